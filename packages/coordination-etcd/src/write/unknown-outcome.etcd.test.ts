// A connection that breaks between a write and its response leaves the outcome unknown. A store that reports "failed"
// makes a worker repeat a committed write; one that reports "done" may lose it. So these tests cut connections at
// exactly those points.

import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type CommitAnswer,
  type PutRunSet,
  type UpdateShardSet,
  type WriteSet,
} from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { assert, unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { EtcdStore } from "../etcd-store.ts";
import { Layout } from "../layout/layout.ts";
import { openEtcdStore } from "../open/open-etcd-store.ts";
import { newPrefix, startTestEtcd, type TestServer } from "../temporary-store.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(4));
const RUN = RunId.fromRaw(1n);
const KEY = { run: RUN, shard: ShardId.fromRaw(0n) };
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 1000, maxShardsTotal: 1000 };

const skipped = etcdSkipped();
let server: TestServer;
let proxy: CuttingProxy;
/** By way of the proxy, and straight. */
let store: EtcdStore;
let straight: EtcdStore;
let layout: Layout;

beforeAll(async () => {
  if (skipped === undefined) server = await startTestEtcd();
});
afterAll(async () => {
  await server?.dispose();
});

/** How a write of a key looks on its way, where it is in base64: enough of it to know a request by. */
const putOf = (key: string): string =>
  `request_put":{"key":"${Buffer.from(key.slice(0, key.length - (key.length % 3))).toString("base64")}`;

function putRun(shardCount: number): PutRunSet {
  const created = Array.from({ length: shardCount }, (_, index) => {
    const spec = ShardSpec.withRange({
      start: Uint8Array.of(index >> 8, index & 255),
      end: Uint8Array.of((index + 1) >> 8, (index + 1) & 255),
    });
    return newShardRecord({
      tenant: TENANT,
      key: { run: RUN, shard: ShardId.fromRaw(BigInt(index)) },
      spec,
      cursor: Cursor.initial(),
      cursorSemantics: "Completed",
      parent: undefined,
      now,
    });
  });
  const after = {
    ...newRunRecord({ tenant: TENANT, run: RUN, config, now }),
    status: "Active",
    rootShards: created.map(({ shard }) => shard),
  } as const;
  return { kind: "PutRun", tenant: TENANT, run: RUN, guard: undefined, after, created, limits, noShardsIn: [] };
}

async function update(): Promise<UpdateShardSet> {
  const { shard } = unwrap(await straight.readShard(TENANT, KEY));
  assert(shard !== undefined, "the shard is there");
  const write = {
    guard: shard.version,
    before: shard.record,
    after: { ...shard.record, attempts: shard.record.attempts + 1 },
  };
  return { kind: "UpdateShard", tenant: TENANT, run: RUN, shard: write, runGuard: undefined, hintAt: undefined };
}

const attempts = async () => unwrap(await straight.readShard(TENANT, KEY)).shard?.record.attempts;
const commit = async (set: WriteSet, to: EtcdStore = store): Promise<CommitAnswer> => (await to.commit([set]))[0]!;

/** The result that the writer gets if its request with this text, or the response to it, is lost. */
async function commitWhileCut(set: WriteSet, when: "Before" | "After", text: string): Promise<string> {
  const sprung = proxy.cut(when, text);
  const [answer] = await Promise.all([commit(set), sprung]);
  if (answer.kind === "Unknown" || answer.kind === "Failed")
    expect(answer.error).toMatchObject({ kind: "Transient", operation: "etcd.commit" });
  return answer.kind;
}

/** The server may still be at what it got when the connection was cut. */
async function settled(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  await expect.poll(look, { timeout: 60_000 }).toEqual(expected);
}

describe.skipIf(skipped !== undefined)("an answer that is lost", () => {
  beforeEach(async () => {
    const prefix = newPrefix();
    layout = new Layout(`${prefix}/`);
    proxy = await CuttingProxy.before(server.endpoint);
    store = unwrap(await openEtcdStore({ endpoints: [proxy.url], prefix }));
    await store.swept();
    straight = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix }));
  });
  afterEach(async () => {
    await store.close();
    await straight.swept();
    expect(unwrap(await fsck(straight.inspect())).findings).toEqual([]);
    await straight.close();
    await proxy.close();
  });

  test("to an update leaves it unknown, and it was made", async () => {
    await commit(putRun(1), straight);
    expect(await commitWhileCut(await update(), "After", "request_put")).toBe("Unknown");
    await settled(attempts, 1);
  });

  test("an update that is lost on its way is unknown, too", async () => {
    await commit(putRun(1), straight);
    expect(await commitWhileCut(await update(), "Before", "request_put")).toBe("Unknown");
    expect(await attempts()).toBe(0);
    expect((await commit(await update())).kind).toBe("Committed");
  });

  test("to a read before the write is harmless: the read is repeated", async () => {
    expect(await commitWhileCut(putRun(1), "After", "request_range")).toBe("Committed");
  });

  test("to a run's write leaves it unknown, and it was made", async () => {
    expect(await commitWhileCut(putRun(3), "After", "request_put")).toBe("Unknown");
    await settled(async () => unwrap(await straight.readRun(TENANT, RUN)).kind, "Found");
  });

  test("to a piece of a registration is a failure that left nothing to be seen, and the next attempt is made", async () => {
    for (const when of ["Before", "After"] as const) {
      expect(await commitWhileCut(putRun(300), when, putOf(layout.staged("")))).toBe("Failed");
      expect(unwrap(await straight.readRun(TENANT, RUN))).toEqual({ kind: "Missing" });
    }
    expect((await commit(putRun(300))).kind).toBe("Committed");
    expect(unwrap(await straight.readProgress({ tenant: TENANT, run: RUN, now })).total).toBe(300);
  });

  test("to the write that names a registration leaves it unknown, and it was made whole", async () => {
    expect(await commitWhileCut(putRun(300), "After", putOf(layout.head({ tenant: TENANT, run: RUN })))).toBe(
      "Unknown",
    );
    await settled(async () => unwrap(await straight.readProgress({ tenant: TENANT, run: RUN, now })).total, 300);
  });

  test("to a removal leaves it unknown, and it was made", async () => {
    const { version } = (await commit(putRun(300), straight)) as { readonly version: string };
    expect(
      await commitWhileCut(
        { kind: "RemoveRun", tenant: TENANT, run: RUN, guard: version },
        "After",
        "request_delete_range",
      ),
    ).toBe("Unknown");
    await settled(async () => unwrap(await straight.readRun(TENANT, RUN)).kind, "Deleted");
  });

  test("a write for which there is no connection has failed", async () => {
    await commit(putRun(1), straight);
    const set = await update();
    await proxy.close();
    // The first to notice that the connections are dead.
    expect(await store.readRun(TENANT, RUN)).toMatchObject({ ok: false, error: { kind: "Transient" } });
    expect(await commit(set)).toMatchObject({ kind: "Failed", error: { code: "ECONNREFUSED" } });
    expect((await commit(set, straight)).kind).toBe("Committed");
    proxy = await CuttingProxy.before(server.endpoint);
  });
});
