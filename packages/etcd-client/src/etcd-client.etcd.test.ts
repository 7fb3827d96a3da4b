// Against a real etcd: that its JSON means what we take it to mean, with and without users and TLS, and that a member which is
// gone, restarted or cut off in the middle of a response is reported as such.
import { randomUUID } from "node:crypto";
import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, etcdTlsSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { EtcdClient } from "./etcd-client.ts";
import type { EtcdOptions } from "./etcd-options.ts";
import { foundAt, prefixEnd } from "./operation.ts";

const missing = etcdSkipped();
const NOBODY = "http://127.0.0.1:1";

let server: EtcdServer;
beforeAll(async () => {
  if (missing === undefined) server = await startEtcd();
});
afterAll(async () => {
  await server?.dispose();
});

function open(options: Partial<EtcdOptions> = {}): EtcdClient {
  const client = new EtcdClient({ endpoints: [server.endpoint], ...options });
  onTestFinished(() => client.close());
  return client;
}

describe.skipIf(missing !== undefined)("keys", () => {
  test("are written, read by range in order, counted, limited and removed", async () => {
    const client = open();
    const prefix = `${randomUUID()}/`;
    for (const [name, value] of [
      ["b", "2"],
      ["a", "3"],
      ["c", "1"],
    ] as const)
      unwrap(await client.put({ put: prefix + name, value }));
    const all = { get: prefix, end: prefixEnd(prefix) };
    const names = async (options: object) =>
      unwrap(await client.range({ ...all, ...options })).kvs.map(({ key }) => key.slice(prefix.length));
    expect(await names({})).toEqual(["a", "b", "c"]);
    expect(await names({ sort: "VALUE_ASCEND" })).toEqual(["c", "b", "a"]);
    expect(await names({ sort: "VALUE_ASCEND", limit: 1 })).toEqual(["c"]);
    expect(unwrap(await client.range({ ...all, limit: 2 }))).toMatchObject({ count: 3, more: true });
    expect(unwrap(await client.range({ ...all, countOnly: true }))).toMatchObject({ count: 3, kvs: [] });
    expect(unwrap(await client.range({ ...all, keysOnly: true })).kvs[0]!.value.length).toBe(0);
    const before = unwrap(await client.get(`${prefix}a`));
    unwrap(await client.put({ put: `${prefix}a`, value: Uint8Array.of(0, 255, 10) }));
    expect(unwrap(await client.get(`${prefix}a`)).found!.value).toEqual(Buffer.of(0, 255, 10));
    expect(unwrap(await client.range({ get: `${prefix}a`, revision: before.revision })).kvs[0]!.value.toString()).toBe(
      "3",
    );
    expect(unwrap(await client.delete(`${prefix}a`))).toBe(1);
    expect(unwrap(await client.delete(all.get, all.end))).toBe(2);
    expect(unwrap(await client.get(`${prefix}a`)).found).toBe(undefined);
  });

  test("a revision that was compacted away is reported as such", async () => {
    const client = open();
    const key = randomUUID();
    const old = unwrap(await client.put({ put: key, value: "1" }));
    const now = unwrap(await client.put({ put: key, value: "2" }));
    const compaction = { method: "POST", body: JSON.stringify({ revision: now.toString() }) };
    expect((await fetch(`${server.endpoint}/v3/kv/compaction`, compaction)).status).toBe(200);
    expect(await client.range({ get: key, revision: old })).toMatchObject({
      ok: false,
      error: { kind: "EtcdRefused", code: 11 },
    });
  });
});

describe.skipIf(missing !== undefined)("transactions", () => {
  test("each one within another is made for itself, and those behind it see what it wrote", async () => {
    const client = open();
    const [a, b] = [randomUUID(), randomUUID()];
    const absent = (key: string) => ({ key, target: "CREATE", is: "EQUAL", revision: 0n }) as const;
    unwrap(await client.put({ put: b, value: "old" }));
    const done = unwrap(
      await client.txn({
        compare: [],
        success: [
          { txn: { compare: [absent(a)], success: [{ put: a, value: "1" }] } },
          { txn: { compare: [absent(b)], success: [{ put: b, value: "1" }], failure: [{ get: b }] } },
          { get: a },
          { delete: `${a}-not-there` },
        ],
      }),
    );
    expect(done.succeeded).toBe(true);
    expect(done.results.map((result) => ("succeeded" in result ? result.succeeded : result.kind))).toEqual([
      true,
      false,
      "Get",
      "Delete",
    ]);
    expect(foundAt(done, 2)).toMatchObject({ modRevision: done.revision });
    expect(done.results[1]).toMatchObject({ results: [{ kind: "Get", kvs: [{ value: Buffer.from("old") }] }] });
  });

  test("a condition on a range holds where it holds for every key of it, or there is none", async () => {
    const client = open();
    const prefix = `${randomUUID()}/`;
    const isEmpty = async () =>
      unwrap(
        await client.txn({
          compare: [{ key: prefix, end: prefixEnd(prefix), target: "CREATE", is: "EQUAL", revision: 0n }],
          success: [],
        }),
      ).succeeded;
    expect(await isEmpty()).toBe(true);
    unwrap(await client.put({ put: `${prefix}a`, value: "" }));
    expect(await isEmpty()).toBe(false);
  });

  test("more operations than the server takes are refused, not half done", async () => {
    const client = open();
    const success = Array.from({ length: 129 }, (_, index) => ({ put: `${randomUUID()}${index}`, value: "" }));
    expect(await client.txn({ compare: [], success })).toMatchObject({
      ok: false,
      error: { kind: "EtcdRefused", code: 3, reason: expect.stringContaining("too many operations") },
    });
  });
});

describe.skipIf(missing !== undefined)("leases and watches", () => {
  test("a key ends with its lease, and its watchers are notified", async () => {
    const client = open();
    const key = randomUUID();
    const { leaseId } = unwrap(await client.grantLease(60));
    const revision = unwrap(await client.put({ put: key, value: "x", leaseId }));
    expect(unwrap(await client.keepLeaseAlive(leaseId)).ttlS).toBe(60);
    const gone = new Promise<boolean>((resolve) => {
      const stop = client.watch(key, revision + 1n, resolve, () => {});
      onTestFinished(() => stop());
    });
    unwrap(await client.revokeLease(leaseId));
    expect(await gone).toBe(true);
    expect(unwrap(await client.isLeaseAlive(leaseId))).toBe(false);
    expect(unwrap(await client.keepLeaseAlive(leaseId)).ttlS).toBe(0);
    unwrap(await client.revokeLease(leaseId));
  });
});

describe.skipIf(missing !== undefined)("members that fail", () => {
  test("one that is not there is passed over, for reads and writes", async () => {
    const client = open({ endpoints: [NOBODY, server.endpoint] });
    const key = randomUUID();
    unwrap(await client.put({ put: key, value: "1" }));
    expect(unwrap(await client.get(key)).found!.value.toString()).toBe("1");
  });

  test("a write whose answer is cut off may be done, and it is; one that reached no server is not", async () => {
    const link = await cuttingLink(server.endpoint);
    const client = open({ endpoints: [link.endpoint] });
    const key = randomUUID();
    unwrap(await client.get(key));
    link.cutAnswers();
    expect(await client.put({ put: key, value: "1" })).toMatchObject({
      ok: false,
      error: { kind: "EtcdUnavailable", mayBeDone: true },
    });
    await link.close();
    expect(await client.put({ put: key, value: "2" })).toMatchObject({
      ok: false,
      error: { kind: "EtcdUnavailable", mayBeDone: false },
    });
    expect(unwrap(await open().get(key)).found!.value.toString()).toBe("1");
  });

  test("it goes on with a server that was killed and started again", async () => {
    const own = await startEtcd();
    onTestFinished(() => own.dispose());
    const client = open({ endpoints: [own.endpoint] });
    unwrap(await client.put({ put: "k", value: "1" }));
    await own.kill();
    expect(await client.put({ put: "k", value: "2" })).toMatchObject({ ok: false, error: { kind: "EtcdUnavailable" } });
    await own.restart();
    expect(unwrap(await client.get("k")).found!.value.toString()).toBe("1");
  });
});

describe.skipIf(missing !== undefined)("users", () => {
  test("a login is asked for, made, and made again when the server has forgotten it", async () => {
    const own = await startEtcd();
    onTestFinished(() => own.dispose());
    await turnOnUsers(own.endpoint, { username: "root", password: "correct horse" });
    const login = { endpoints: [own.endpoint], username: "root", password: "correct horse" };
    expect((await open({ endpoints: [own.endpoint] }).get("k")).ok).toBe(false);
    const wrong = await open({ ...login, password: "battery staple" }).put({ put: "k", value: "1" });
    expect(wrong).toMatchObject({ ok: false, error: { kind: "EtcdRefused" } });
    expect(JSON.stringify(wrong)).not.toMatch(/battery|root/u);

    const client = open(login);
    unwrap(await client.put({ put: "k", value: "1" }));
    await own.restart();
    unwrap(await client.put({ put: "k", value: "2" }));
    expect(unwrap(await client.get("k")).found!.value.toString()).toBe("2");
  });
});

describe.skipIf(etcdTlsSkipped() !== undefined)("TLS", () => {
  test("the server must be of the authority, and asks for a certificate if configured", async () => {
    const own = await startEtcd([], { tls: "Mutual" });
    onTestFinished(() => own.dispose());
    const { ca, cert, key } = own.certificates!;
    const endpoints = [own.endpoint];
    unwrap(await open({ endpoints, tls: { ca, cert, key } }).put({ put: "k", value: "1" }));
    expect(await open({ endpoints, tls: { cert, key } }).put({ put: "k", value: "2" })).toMatchObject({
      ok: false,
      error: { kind: "EtcdUnavailable", mayBeDone: false },
    });
    expect((await open({ endpoints, tls: { ca } }).put({ put: "k", value: "3" })).ok).toBe(false);
    expect(
      unwrap(
        await open({ endpoints, tls: { ca: Buffer.from(ca), cert: Buffer.from(cert), key: Buffer.from(key) } }).get(
          "k",
        ),
      ).found!.value.toString(),
    ).toBe("1");
  });
});

/** A link that can swallow answers: what is sent arrives, and nothing comes back. */
async function cuttingLink(
  target: string,
): Promise<{ readonly endpoint: string; cutAnswers: () => void; close: () => Promise<void> }> {
  const { hostname, port } = new URL(target);
  let isCut = false;
  const near = new Set<{ destroy: () => unknown }>();
  const link: Server = createServer((client) => {
    const far = connect(Number(port), hostname);
    near.add(client);
    client.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => (isCut ? client.destroy() : client.write(chunk)));
    for (const socket of [client, far]) socket.on("error", () => {});
    client.on("close", () => far.destroy());
    far.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => link.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(link.address() as AddressInfo).port}`,
    cutAnswers: () => (isCut = true),
    close: async () => {
      for (const socket of near) socket.destroy();
      await new Promise<void>((resolve) => void link.close(() => resolve()));
    },
  };
}

async function turnOnUsers(
  endpoint: string,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(endpoint + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}`);
  };
  await post("/v3/auth/user/add", { name: username, password });
  await post("/v3/auth/user/grant", { user: username, role: "root" });
  await post("/v3/auth/enable", {});
}
