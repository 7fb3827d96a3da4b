// Opening is where a store meets other people's clusters: users, certificates, members that are gone, keys that are not
// ours. Each must be reported as what it is, without a secret, and none may be mistaken for an empty store.

import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, RANGE_EXHAUSTED } from "@gossip/coordination";
import { measureClockSkew } from "@gossip/coordination/internal";
import { ManualClock } from "@gossip/coordination/testing";
import { fsck } from "@gossip/coordination-fsck";
import { EtcdClient } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, etcdTlsSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { EtcdStore } from "../etcd-store.ts";
import { openEtcdStore, type EtcdStoreOptions } from "./open-etcd-store.ts";
import { newPrefix } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const NOBODY = "http://127.0.0.1:1";
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(6));
const RUN = RunId.fromRaw(1n);

let server: EtcdServer;
beforeAll(async () => {
  if (skipped === undefined) server = await startEtcd();
});
afterAll(async () => {
  await server?.dispose();
});

async function start(...args: Parameters<typeof startEtcd>): Promise<EtcdServer> {
  const own = await startEtcd(...args);
  onTestFinished(() => own.dispose());
  return own;
}

async function open(options: Partial<EtcdStoreOptions>): Promise<EtcdStore> {
  const store = unwrap(
    await openEtcdStore({
      ...(options.url === undefined ? { endpoints: [server.endpoint] } : {}),
      prefix: newPrefix(),
      ...options,
    }),
  );
  onTestFinished(() => store.close());
  return store;
}

/** Do with a store what a worker does. */
async function use(store: EtcdStore, run: RunId = RUN): Promise<void> {
  const coordinator = new Coordinator({ store, clock: new ManualClock(1n) });
  const shards = [
    {
      shard: ShardId.fromRaw(1n),
      spec: ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(9) }),
      cursor: Cursor.initial(),
    },
  ];
  unwrap(
    await coordinator.createRunWithShards({
      tenant: TENANT,
      run,
      config: { leaseDuration: 100n },
      shards,
      opId: OpId.random(),
    }),
  );
  const session = unwrap(await coordinator.claim({ tenant: TENANT, run, worker: WorkerId.fromRaw(1n) }));
  unwrap(await session.checkpoint(Cursor.withLastKey(Uint8Array.of(3))));
  unwrap(await session.complete(RANGE_EXHAUSTED));
}

describe.skipIf(skipped !== undefined)("opening", () => {
  test("an empty prefix becomes a store, for all processes that open it at once, and is found again", async () => {
    const prefix = newPrefix();
    const [one, two] = await Promise.all([open({ prefix }), open({ prefix: `${prefix}/` }), open({ prefix })]);
    await use(one);
    expect(unwrap(await two.readRun(TENANT, RUN)).kind).toBe("Found");
  });

  test("stores with different prefixes are independent, even if one prefix begins with the other", async () => {
    const prefix = newPrefix();
    const [outer, inner] = [await open({ prefix: `${prefix}1` }), await open({ prefix: `${prefix}11` })];
    await use(outer);
    expect(unwrap(await inner.listTenants({ after: undefined, limit: 9 })).items).toEqual([]);
  });

  test("a later layout is refused, and so are keys that are not a store", async () => {
    const client = new EtcdClient({ endpoints: [server.endpoint] });
    onTestFinished(() => client.close());
    const attempt = async (key: string, value: string) => {
      const prefix = newPrefix();
      unwrap(await client.put({ put: `${prefix}/${key}`, value }));
      return openEtcdStore({ endpoints: [server.endpoint], prefix });
    };
    expect(await attempt("format", "3")).toEqual({ ok: false, error: { kind: "NewerFormat", found: 3, supported: 2 } });
    for (const [key, value] of [
      ["format", "x"],
      ["format", ""],
      ["config", "mine"],
    ] as const)
      expect(await attempt(key, value)).toEqual({ ok: false, error: { kind: "NotAStore" } });
  });

  test("an earlier layout becomes this one, so that earlier versions do not open it", async () => {
    const client = new EtcdClient({ endpoints: [server.endpoint] });
    onTestFinished(() => client.close());
    const prefix = newPrefix();
    unwrap(await client.put({ put: `${prefix}/format`, value: "1" }));
    const opened = await Promise.all([1, 2, 3].map(() => openEtcdStore({ endpoints: [server.endpoint], prefix })));
    for (const store of opened) await unwrap(store).close();
    expect(unwrap(await client.get(`${prefix}/format`)).found?.value.toString()).toBe("2");
  });

  test("an unreachable server is reported as such", async () => {
    expect(await openEtcdStore({ endpoints: [NOBODY] })).toEqual({
      ok: false,
      error: { kind: "Unavailable", reason: "ECONNREFUSED" },
    });
  });

  test.each([
    [undefined, "options must be an object"],
    [{}, "either endpoints or a url"],
    [{ endpoints: [NOBODY], url: "etcd://a" }, "either endpoints or a url"],
    [{ endpoints: [] }, "at least one endpoint"],
    [{ endpoints: [NOBODY], prefix: "" }, "prefix of an etcd store"],
    [{ endpoints: [NOBODY], prefix: "a b" }, "prefix of an etcd store"],
    [{ endpoints: [NOBODY], prefix: "/a" }, "prefix of an etcd store"],
    [{ endpoints: [NOBODY], prefix: "ä" }, "prefix of an etcd store"],
    [{ url: "etcd://ann:secret-word@" }, "URL of an etcd store"],
  ])("%j is refused in a sentence", async (options, words) => {
    await expect(openEtcdStore(options as never)).rejects.toThrow(words);
  });

  test("calls of a closed store fail, and closing twice is harmless", async () => {
    const store = await open({});
    await Promise.all([store.close(), store.close()]);
    expect(await store.readRun(TENANT, RUN)).toMatchObject({
      ok: false,
      error: { kind: "Transient", message: "the store is closed" },
    });
    expect(await store.commit([{ kind: "RemoveRun", tenant: TENANT, run: RUN, guard: "r1" }])).toMatchObject([
      { kind: "Failed" },
    ]);
  });
});

describe.skipIf(skipped !== undefined)("members", () => {
  test("one that is gone is skipped, from the start and later", async () => {
    const own = await start();
    const store = await open({ endpoints: [NOBODY, own.endpoint] });
    await use(store);
    await own.kill();
    expect(await store.readRun(TENANT, RUN)).toMatchObject({
      ok: false,
      error: { kind: "Transient", operation: "etcd.readRun" },
    });
    await own.restart();
    expect(unwrap(await store.readRun(TENANT, RUN)).kind).toBe("Found");
    await use(store, RunId.fromRaw(2n));
  });

  test("if the connection to one is cut, another is used", async () => {
    const [one, two] = [await CuttingProxy.before(server.endpoint), await CuttingProxy.before(server.endpoint)];
    onTestFinished(() => two.close());
    const store = await open({ endpoints: [one.url, two.url] });
    await use(store);
    await one.close();
    expect(unwrap(await store.readRun(TENANT, RUN)).kind).toBe("Found");
    await use(store, RunId.fromRaw(2n));
  });
});

test.skipIf(skipped !== undefined)(
  "an etcd without space is reported as such, and nothing that it rejected is stored",
  async () => {
    const own = await start(["--quota-backend-bytes=3000000"]);
    const store = await open({ endpoints: [own.endpoint] });
    const spec = ShardSpec.withRangeAndMetadata({
      start: Uint8Array.of(1),
      end: Uint8Array.of(9),
      metadata: new Uint8Array(16_000),
    });
    const coordinator = new Coordinator({ store, clock: new ManualClock(1n), retry: { maxAttempts: 1 } });
    let refusal: unknown;
    for (let run = 1n; refusal === undefined && run < 1000n; run++) {
      const shards = [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }];
      const made = await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RunId.fromRaw(run),
        config: { leaseDuration: 100n },
        shards,
        opId: OpId.random(),
      });
      if (!made.ok) refusal = made.error;
    }
    expect(JSON.stringify(refusal)).toContain("etcd has no space left");
    expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
  },
);

describe.skipIf(skipped !== undefined)("users", () => {
  test("a user with a role for the prefix can do everything, and other users nothing", async () => {
    const own = await start();
    const { host } = new URL(own.endpoint);
    await addUser(own.endpoint, { username: "ann", password: "pass word/1", prefix: "gossip/" });
    const login = { endpoints: [own.endpoint], username: "ann", password: "pass word/1", prefix: "gossip" };
    const store = await open(login);
    await use(store);
    // The server forgets all logins.
    await own.restart();
    await use(store, RunId.fromRaw(2n));
    await use(await open({ url: `etcd://ann:pass%20word%2F1@${host}/gossip`, prefix: "gossip" }), RunId.fromRaw(3n));

    const refusals = [
      await openEtcdStore({ ...login, password: "wrong word" }),
      await openEtcdStore({ ...login, prefix: "elsewhere" }),
      await openEtcdStore({ endpoints: [own.endpoint] }),
    ];
    for (const refusal of refusals) expect(refusal).toMatchObject({ ok: false, error: { kind: "Refused" } });
    expect(JSON.stringify(refusals)).not.toMatch(/ann|pass word|wrong word/u);
  });
});

describe.skipIf(etcdTlsSkipped() !== undefined)("TLS", () => {
  test("a store works over TLS, with a certificate of its own where the server asks for one", async () => {
    const own = await start([], { tls: "Mutual" });
    const { ca, cert, key } = own.certificates!;
    const { host } = new URL(own.endpoint);
    await use(await open({ url: `etcds://${host}`, tls: { ca, cert, key } }));
    expect(await openEtcdStore({ endpoints: [own.endpoint], tls: { cert, key } })).toMatchObject({
      ok: false,
      error: { kind: "Unavailable" },
    });
    expect((await openEtcdStore({ endpoints: [own.endpoint], tls: { ca } })).ok).toBe(false);
  });
});

async function addUser(
  endpoint: string,
  { username, password, prefix }: { readonly username: string; readonly password: string; readonly prefix: string },
): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(endpoint + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}`);
  };
  await post("/v3/auth/user/add", { name: "root", password: "root's own" });
  await post("/v3/auth/user/grant", { user: "root", role: "root" });
  await post("/v3/auth/user/add", { name: username, password });
  await post("/v3/auth/role/add", { name: "worker" });
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  await post("/v3/auth/role/grant", {
    name: "worker",
    perm: { permType: "READWRITE", key: base64(prefix), range_end: base64(end) },
  });
  await post("/v3/auth/user/grant", { user: username, role: "worker" });
  await post("/v3/auth/enable", {});
}

test.skipIf(skipped !== undefined)("the server's clock shows how far ours is off", async () => {
  const store = await open({});
  const real = unwrap(await measureClockSkew(store, { nowMs: Date.now }))!;
  expect(Math.abs(real.skewMs)).toBeLessThanOrEqual(real.uncertaintyMs);
  const behind = unwrap(await measureClockSkew(store, { nowMs: () => Date.now() - 60_000 }))!;
  expect(Math.abs(behind.skewMs + 60_000)).toBeLessThanOrEqual(behind.uncertaintyMs);
});
