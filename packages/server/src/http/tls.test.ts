// Certificates expire. A server that needs a restart to take new ones, or that goes on with the old authority, is either
// down or open to those whose certificates were withdrawn.
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { makeCertificates, tlsSkipped } from "@gossip/tools/engines";
import { unwrap } from "@gossip/stdx";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import type { ServiceLimits } from "../limits/limits.ts";
import { PeerLinks } from "../ownership/peer-links.ts";
import { GossipServer, type TlsFiles } from "../server.ts";

type Certificates = ReturnType<typeof makeCertificates>;

describe.skipIf(tlsSkipped())("a server over TLS", () => {
  let folder: string;
  let old: Certificates;
  let renewed: Certificates;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gossip-tls-"));
    [old, renewed] = ["old", "new"].map((name) => {
      mkdirSync(join(folder, name));
      return makeCertificates(join(folder, name));
    }) as [Certificates, Certificates];
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const filesOf = ({ ca, server }: Certificates, isMutual: boolean): TlsFiles => ({
    cert: readFileSync(server.cert),
    key: readFileSync(server.key),
    ca: isMutual ? readFileSync(ca) : undefined,
  });

  async function serving(
    tls: TlsFiles,
    act: (server: GossipServer) => Promise<void>,
    limits: Partial<ServiceLimits> = {},
  ): Promise<void> {
    const clock = new ManualClock(1_000n);
    const coordinator = new Coordinator({ store: new MemoryStore(), clock });
    const authenticate = () => new Principal("one", "read");
    const options = { coordinator, clock, listen: { port: 0 }, tls, limits, authenticate };
    const server = unwrap(await GossipServer.start(options));
    try {
      await act(server);
    } finally {
      await server.close();
    }
  }

  /** The status over a new connection, or the code of the failure. */
  function ask(
    server: GossipServer,
    trusted: Certificates,
    client?: Certificates,
    path = "/healthz",
  ): Promise<number | string> {
    const own = client && { cert: readFileSync(client.client.cert), key: readFileSync(client.client.key) };
    return new Promise((resolve) => {
      const options = { ca: readFileSync(trusted.ca), agent: false as const, ...own };
      request(`${server.url}${path}`, options, (response) => {
        expect((response.socket as TLSSocket).getProtocol()).toMatch(/^TLSv1\.[23]$/);
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on("error", ({ code = "UNKNOWN" }: NodeJS.ErrnoException) => resolve(code))
        .end();
    });
  }

  test("new certificates are used for new connections, without a restart", async () => {
    await serving(filesOf(old, false), async (server) => {
      expect(await ask(server, old)).toBe(200);
      expect(await ask(server, renewed)).not.toBe(200);
      server.reloadTls(filesOf(renewed, false));
      expect(await ask(server, renewed)).toBe(200);
      expect(await ask(server, old)).not.toBe(200);
    });
  });

  test("with an authority for clients, only its certificates are let in, also after a reload", async () => {
    await serving(filesOf(old, true), async (server) => {
      expect(await ask(server, old, old)).toBe(200);
      expect(await ask(server, old)).not.toBe(200);
      expect(await ask(server, old, renewed)).not.toBe(200);
      server.reloadTls(filesOf(renewed, true));
      expect(await ask(server, renewed, renewed)).toBe(200);
      expect(await ask(server, renewed, old)).not.toBe(200);
    });
  });

  test("nodes recognize each other by their certificates, also after a reload", async () => {
    await serving(filesOf(old, true), async (server) => {
      const links = new PeerLinks(filesOf(old, true));
      const stranger = new PeerLinks(filesOf(renewed, true));
      const statusOf = async (from: PeerLinks) =>
        (await from.send(new URL(server.url).host, { method: "GET", path: "/healthz", timeoutMs: 10_000 }))?.status;
      try {
        expect([await statusOf(links), await statusOf(stranger)]).toEqual([200, undefined]);
        server.reloadTls(filesOf(renewed, true));
        links.reload(filesOf(renewed, true));
        // Over a new connection: the old one has closed.
        expect([await statusOf(links), await statusOf(stranger)]).toEqual([200, 200]);
        links.reload(filesOf(old, true));
        expect(await statusOf(links)).toBeUndefined();
      } finally {
        links.close();
        stranger.close();
      }
    });
  });

  test("a connection that has closed no longer counts for its token", async () => {
    await serving(
      filesOf(old, false),
      async (server) => {
        for (let turn = 0; turn < 3; turn++) {
          expect(await ask(server, old, undefined, "/v1/tenants")).toBe(200);
          while (server.connectionCount > 0) await new Promise((resolve) => setImmediate(resolve));
        }
      },
      { maxConnectionsPerToken: 1 },
    );
  });

  test("a client that connects and begins no handshake is cut off", async () => {
    await serving(
      filesOf(old, false),
      async (server) => {
        const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
        socket.on("error", () => {});
        await new Promise((resolve) => socket.on("close", resolve));
      },
      { headersTimeoutMs: 100 },
    );
  });
});
