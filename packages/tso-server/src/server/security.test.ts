// A client that can ask an oracle can use up its capacity, and a server that can answer in its place can move a fleet's leases. A server that
// forgets to check a token or a certificate looks exactly like one that does, until it is abused.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { makeCertificates, tlsSkipped } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { TimestampClient, type ClientOptions } from "../client/timestamp-client.ts";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { until } from "../until.fixture.ts";
import { encodeRequest, encodeToken } from "../wire/frame.ts";
import { hashToken } from "../wire/token.ts";
import { OracleServer, type ServeOptions } from "./oracle-server.ts";
import { RawClient } from "./raw-client.fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = "gossip_tso_0123456789abcdef";
const OTHER_TOKEN = "gossip_tso_fedcba9876543210";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(options: Partial<ServeOptions> = {}): Promise<OracleServer> {
  const server = unwrap(await OracleServer.start({ driver: new MemoryDriver(), listen: [{ port: 0 }], ...options }));
  closing.push(() => server.shutdown());
  await until(() => server.oracle.state.kind === "Serving");
  return server;
}

function connect(endpoints: readonly string[], options: Partial<ClientOptions> = {}): TimestampClient {
  const client = unwrap(TimestampClient.create({ endpoints, retryPolicy: { overallMs: 20_000 }, ...options }));
  closing.push(() => client.close());
  return client;
}

function metric(
  server: OracleServer,
  name: "tsoracle.get_ts.unauthenticated.total" | "tsoracle.connection.malformed.total",
) {
  return server.oracle.metrics.counter(name).value;
}

describe("tokens", () => {
  test("a client with a known token gets timestamps, and no other client does", async () => {
    const server = await start({ tokens: [hashToken(OTHER_TOKEN), hashToken(TOKEN)] });
    expect(await connect(server.addresses, { token: TOKEN }).getTs()).toMatchObject({ ok: true });
    for (const token of [undefined, `${TOKEN}x`, hashToken(TOKEN)]) {
      const client = connect(server.addresses, token === undefined ? {} : { token });
      expect(await client.getTs()).toEqual({
        ok: false,
        error: { kind: "Rejected", status: "Unauthenticated", reason: "this server needs a token that it knows" },
      });
    }
    expect(metric(server, "tsoracle.get_ts.unauthenticated.total")).toBe(3);
  });

  test("an empty list admits no client", async () => {
    const server = await start({ tokens: [] });
    expect(await connect(server.addresses, { token: TOKEN }).getTs()).toMatchObject({
      error: { status: "Unauthenticated" },
    });
  });

  test("a server without tokens serves clients that have one", async () => {
    const server = await start();
    expect(await connect(server.addresses, { token: TOKEN }).getTs()).toMatchObject({ ok: true });
  });

  test("a token may come in pieces, and a later unknown one takes the right away", async () => {
    const server = await start({ tokens: [hashToken(TOKEN)] });
    const raw = await new RawClient(server.addresses[0]!).connected();
    closing.push(() => raw.socket.destroy());
    const ask = (requestId: number): Buffer => encodeRequest({ requestId, count: 1 });
    for (const byte of Buffer.concat([encodeToken(TOKEN), ask(1)])) raw.socket.write(Buffer.of(byte));
    await until(() => raw.replies.length === 1);
    raw.socket.write(Buffer.concat([encodeToken(OTHER_TOKEN), ask(2)]));
    await until(() => raw.replies.length === 2);
    expect(raw.replies).toMatchObject([
      { kind: "Granted", requestId: 1 },
      { kind: "Refused", requestId: 2, status: "Unauthenticated" },
    ]);
  });

  test("other tokens take effect at once, also for clients that are connected", async () => {
    const server = await start({ tokens: [hashToken(TOKEN)], http: { port: 0 } });
    const client = connect(server.addresses, { token: TOKEN });
    expect(await client.getTs()).toMatchObject({ ok: true });
    const raw = await new RawClient(server.addresses[0]!).connected();
    closing.push(() => raw.socket.destroy());
    raw.socket.write(Buffer.concat([encodeToken(TOKEN), encodeRequest({ requestId: 1, count: 1 })]));
    await until(() => raw.replies.length === 1);
    server.reloadTokens([hashToken(TOKEN), hashToken(OTHER_TOKEN)]);
    raw.socket.write(encodeRequest({ requestId: 2, count: 1 }));
    await until(() => raw.replies.length === 2);
    expect(raw.isClosed).toBe(false);
    server.reloadTokens([hashToken(OTHER_TOKEN)]);
    await until(() => raw.isClosed);
    client.reloadToken(OTHER_TOKEN);
    expect(await client.getTs()).toMatchObject({ ok: true });
    expect(await connect(server.addresses, { token: TOKEN }).getTs()).toMatchObject({
      error: { status: "Unauthenticated" },
    });
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect((await fetch(`http://${server.httpAddress!}/v1/timestamp`, bearer(TOKEN))).status).toBe(401);
    expect((await fetch(`http://${server.httpAddress!}/v1/timestamp`, bearer(OTHER_TOKEN))).status).toBe(200);
    expect(() => server.reloadTokens([TOKEN])).toThrow(InvariantViolation);
    expect(() => client.reloadToken("short")).toThrow(InvariantViolation);
  });

  test("a server without tokens asks for none after a reload", async () => {
    const server = await start();
    const client = connect(server.addresses);
    expect(await client.getTs()).toMatchObject({ ok: true });
    server.reloadTokens([hashToken(TOKEN)]);
    expect(await client.getTs()).toMatchObject({ ok: true });
    expect(await connect(server.addresses).getTs()).toMatchObject({ ok: true });
  });

  test("a token longer than any closes the connection", async () => {
    const server = await start({ tokens: [hashToken(TOKEN)] });
    const raw = await new RawClient(server.addresses[0]!).connected();
    closing.push(() => raw.socket.destroy());
    raw.socket.write(encodeToken("x".repeat(513)));
    await until(() => raw.isClosed);
    expect(metric(server, "tsoracle.connection.malformed.total")).toBe(1);
  });

  test("over HTTP, timestamps and metrics need the token, and probes do not", async () => {
    const server = await start({ tokens: [hashToken(TOKEN)], http: { port: 0 } });
    const get = (path: string, authorization?: string): Promise<Response> =>
      fetch(`http://${server.httpAddress!}${path}`, authorization === undefined ? {} : { headers: { authorization } });
    for (const path of ["/v1/timestamp", "/metrics"]) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, `Bearer ${OTHER_TOKEN}`)).status).toBe(401);
      expect((await get(path, `Basic ${TOKEN}`)).status).toBe(401);
      expect((await get(path, `Bearer ${TOKEN}`)).status).toBe(200);
    }
    for (const path of ["/healthz", "/readyz"]) expect((await get(path)).status).toBe(200);
    expect((await get("/v1/timestamp")).headers.get("www-authenticate")).toBe("Bearer");
  });

  test("a token that could be guessed, and a hash that is none, are refused", async () => {
    expect(() => hashToken("short")).toThrow("a token is 16 to 512 visible ASCII characters");
    expect(() => hashToken("has a space in it, so no")).toThrow(InvariantViolation);
    expect(() => TimestampClient.create({ endpoints: ["127.0.0.1:1"], token: "short" })).toThrow(InvariantViolation);
    await expect(OracleServer.start({ driver: new MemoryDriver(), tokens: [TOKEN] })).rejects.toThrow(
      "tokens are a list of hashes, each 64 lowercase hex digits",
    );
  });
});

const SKIPPED = tlsSkipped();

describe.skipIf(SKIPPED !== undefined)(`TLS${SKIPPED === undefined ? "" : ` (${SKIPPED})`}`, () => {
  let folder: string;
  let ca: string;
  let own: { readonly cert: string; readonly key: string };
  let clients: { readonly cert: string; readonly key: string };
  let strangers: { readonly ca: string; readonly cert: string; readonly key: string };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tso-tls-"));
    const read = (pair: { cert: string; key: string }) => ({
      cert: readFileSync(pair.cert, "utf8"),
      key: readFileSync(pair.key, "utf8"),
    });
    const made = makeCertificates(folder);
    ca = readFileSync(made.ca, "utf8");
    own = read(made.server);
    clients = read(made.client);
    const other = makeCertificates(folder);
    strangers = { ca: readFileSync(other.ca, "utf8"), ...read(other.client) };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("a client that knows the authority gets timestamps, also from a unix socket, which stays plain", async () => {
    const path = join(folder, "tso.sock");
    const server = await start({ tls: own, listen: [{ port: 0 }, { path }] });
    for (const endpoint of [server.addresses[0]!, `unix:${path}`])
      expect(unwrap(await connect([endpoint], { tls: { ca } }).getTsBatch(3)).count).toBe(3);
  });

  test("new certificates are used for new connections, at the server and at the client", async () => {
    const server = await start({ tls: { ...own, ca } });
    const once = { maxAttempts: 1, backoffMs: 1 };
    const client = connect(server.addresses, {
      tls: { ca, cert: strangers.cert, key: strangers.key },
      retryPolicy: once,
    });
    expect((await client.getTs()).ok).toBe(false);
    client.reloadTls({ ca, ...clients });
    expect((await client.getTs()).ok).toBe(true);
    server.reloadTls({ ...own, ca: strangers.ca });
    const next = connect(server.addresses, { tls: { ca, ...clients }, retryPolicy: once });
    expect((await next.getTs()).ok).toBe(false);
    next.reloadTls({ ca, cert: strangers.cert, key: strangers.key });
    expect((await next.getTs()).ok).toBe(true);
    expect(() => server.reloadTls({ cert: own.cert, key: strangers.key })).toThrow(InvariantViolation);
  });

  test("a server with an unknown certificate, or one of another name, gets no request", async () => {
    const server = await start({ tls: own });
    const refused = [{ ca: strangers.ca }, {}, { ca, serverName: "tso.example" }];
    for (const tls of refused) {
      const client = connect(server.addresses, { tls, token: TOKEN, retryPolicy: { maxAttempts: 1, backoffMs: 1 } });
      expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport" } });
    }
    expect(server.oracle.metrics.counter("tsoracle.get_ts.requests.total").value).toBe(0);
    const named = connect(server.addresses, { tls: { ca, serverName: "localhost" } });
    expect(await named.getTs()).toMatchObject({ ok: true });
  });

  test("with an authority of clients, only its certificates are served", async () => {
    const server = await start({ tls: { ...own, ca } });
    expect(await connect(server.addresses, { tls: { ca, ...clients } }).getTs()).toMatchObject({ ok: true });
    const { cert, key } = strangers;
    for (const tls of [{ ca }, { ca, cert, key }]) {
      const client = connect(server.addresses, { tls, retryPolicy: { maxAttempts: 1, backoffMs: 1 } });
      expect(await client.getTs()).toMatchObject({ ok: false, error: { kind: "Transport" } });
    }
    expect(server.oracle.metrics.counter("tsoracle.get_ts.requests.total").value).toBe(1);
  });

  test("a client that speaks without TLS is closed and counted", async () => {
    const server = await start({ tls: own });
    const raw = await new RawClient(server.addresses[0]!).connected();
    closing.push(() => raw.socket.destroy());
    raw.socket.write(encodeRequest({ requestId: 1, count: 1 }));
    await until(() => raw.isClosed);
    expect(raw.replies).toEqual([]);
    expect(metric(server, "tsoracle.connection.malformed.total")).toBe(1);
  });

  test("a token is checked inside TLS, and a hint leads on to the next server with both", async () => {
    const leader = await start({ tls: own, tokens: [hashToken(TOKEN)] });
    const leaderEndpoint = unwrap(PeerEndpoint.parse(leader.addresses[0]!));
    const driver = new MemoryDriver({
      leadership: { kind: "Follower", leaderEndpoint, leaderEpoch: Epoch.fromRaw(1n) },
    });
    const follower = unwrap(
      await OracleServer.start({ driver, listen: [{ port: 0 }], tls: own, tokens: [hashToken(TOKEN)] }),
    );
    closing.push(() => follower.shutdown());
    expect(await connect(follower.addresses, { tls: { ca }, token: TOKEN }).getTs()).toMatchObject({ ok: true });
    expect(await connect(follower.addresses, { tls: { ca } }).getTs()).toMatchObject({
      error: { status: "Unauthenticated" },
    });
  });

  test("HTTP is encrypted, too", async () => {
    const server = await start({ tls: own, http: { port: 0 } });
    const { host, port } = PeerEndpoint.split(unwrap(PeerEndpoint.parse(server.httpAddress!)));
    const status = await new Promise((resolve, reject) => {
      const get = request({ host, port, path: "/v1/timestamp", ca, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      get.on("error", reject).end();
    });
    expect(status).toBe(200);
    await expect(fetch(`http://${server.httpAddress!}/healthz`)).rejects.toThrow();
  });

  test("a shutdown does not wait for a handshake that never ends", async () => {
    const server = await start({ tls: own, limits: { prefaceTimeoutMs: 600_000 }, shutdownGraceMs: 1 });
    const { host, port } = PeerEndpoint.split(unwrap(PeerEndpoint.parse(server.addresses[0]!)));
    const silent = createConnection({ host, port });
    closing.push(() => silent.destroy());
    silent.on("error", () => {});
    await until(() => server.oracle.metrics.gauge("tsoracle.connection.open").value === 1);
    expect(await server.shutdown()).toEqual({ ok: true, value: undefined });
  });

  test("a certificate without its key, or with another's, is refused", async () => {
    const startWith = (tls: ServeOptions["tls"]): Promise<unknown> =>
      OracleServer.start({ driver: new MemoryDriver(), tls: tls! });
    await expect(startWith({ cert: own.cert } as never)).rejects.toThrow("needs a certificate and its key");
    await expect(startWith({ cert: own.cert, key: clients.key })).rejects.toThrow("belong together");
    expect(() => TimestampClient.create({ endpoints: ["127.0.0.1:1"], tls: { cert: own.cert } })).toThrow(
      "a client certificate needs its key",
    );
  });
});
