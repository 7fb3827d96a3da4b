// Pages are read in windows whose width is learned from other pages. A width that does not fit must cost requests, and
// never a shard.
import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { newRunRecord, newShardRecord, type ShardPosition } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { etcdMissing } from "@gossip/tools/engines";
import { describe, expect, test } from "vitest";
import { makeStore, startTestEtcd } from "../temporary-store.fixture.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(3));
const run = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(1n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;

/** Starts that are dense in places, and far apart elsewhere. */
const STARTS = [
  ...Array.from({ length: 150 }, (_, index) => `0000${String(index).padStart(6, "0")}`),
  ...Array.from({ length: 60 }, (_, index) => `users/${String.fromCodePoint(97 + (index % 26))}/${index}`),
  ...Array.from({ length: 90 }, (_, index) => `z${"z".repeat(index)}`),
].toSorted();

describe.skipIf(etcdMissing() !== undefined)("pages of shards in etcd", () => {
  test("have every shard once and in order, whatever the sizes of the pages", async () => {
    const server = await startTestEtcd();
    const temporary = await makeStore(server);
    const { store } = temporary;
    const created = STARTS.map((start, index) =>
      newShardRecord({
        tenant,
        key: { run, shard: ShardId.fromRaw(BigInt(index)) },
        spec: ShardSpec.withRange({ start: Buffer.from(start), end: Buffer.from(`${start}!`) }),
        cursor: Cursor.initial(),
        cursorSemantics: "Completed",
        parent: undefined,
        now,
      }),
    );
    const after = { ...newRunRecord({ tenant, run, config, now }), status: "Active" } as const;
    const limits = { maxShardsPerTenant: 1000, maxShardsTotal: 1000 };
    const set = { kind: "PutRun", tenant, run, guard: undefined, after, created, limits, noShardsIn: [] } as const;
    expect((await store.commit([set]))[0]!.kind).toBe("Committed");
    for (const sizes of [[300], [299], [1, 40, 3, 100], [20], [64, 1], [150], [17, 16, 15]]) {
      const found: ShardId[] = [];
      let position: ShardPosition | undefined;
      for (let page = 0; page === 0 || position !== undefined; page++) {
        const limit = sizes[page % sizes.length]!;
        const query = { tenant, run, now, filter: {}, limit, after: position };
        const { items, next } = unwrap(await store.listShards(query));
        found.push(...items.map(({ shard }) => shard));
        expect(items.length).toBe(Math.min(limit, STARTS.length - found.length + items.length));
        position = next;
      }
      expect(found).toEqual(created.map(({ shard }) => shard));
    }
    await temporary.dispose();
    await server.dispose();
  });
});
