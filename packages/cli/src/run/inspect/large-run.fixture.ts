import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, systemClock, type CoordinationStore } from "@gossip/coordination";
import { encodeTotalsToken } from "@gossip/insight";
import { unwrap } from "@gossip/stdx";
import { seededRandom } from "@gossip/tools/effort";
import type { OpenedStore } from "../../store-url/opened-store.ts";

export const tenant = TenantId.ZERO;
export const request = { tenant, run: RunId.fromRaw(1n) };
export const WORKER = WorkerId.fromRaw(7n);
export const MANY = 16_000;
const PAGE = 8000;
/** Every fifth shard is done, and the first few are held, the last one is parked. */
export const DONE_EVERY = 5;
const HELD = [1, 2, 3];
const NO_BYTES = new Uint8Array(0);
export const keyOf = (index: number): Uint8Array => Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255);

/** A run with items in its finished shards, which are all of them if it `isDone`. Returns how many items. */
export async function fill(coordinator: Coordinator, count: number, { isDone = false } = {}): Promise<number> {
  const random = seededRandom(1);
  unwrap(await coordinator.createRun({ ...request, config: { leaseDuration: 3_600_000n } }));
  for (let from = 0; from < count; from += PAGE) {
    const shards = Array.from({ length: Math.min(PAGE, count - from) }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(from + index + 1)),
      spec: ShardSpec.withRange({ start: keyOf(from + index), end: keyOf(from + index + 1) }),
      cursor: Cursor.initial(),
    }));
    const more = from + PAGE < count;
    unwrap(await coordinator.registerShards({ ...request, shards, opId: OpId.fromRaw(BigInt(from + 1)), more }));
  }
  const hold = async (shard: number) =>
    unwrap(
      await coordinator.openSession({
        tenant,
        key: { run: request.run, shard: ShardId.fromRaw(BigInt(shard)) },
        worker: WORKER,
      }),
    );
  let items = 0;
  await Promise.all(
    Array.from({ length: isDone ? count : count / DONE_EVERY }, async (_, index) => {
      const shard = isDone ? index + 1 : (index + 1) * DONE_EVERY - 1;
      const done = 10 + Math.floor(190 * random() ** 4);
      items += done;
      const session = await hold(shard);
      const token = encodeTotalsToken({ items: done, failed: 0, unreadable: 0 }, NO_BYTES);
      unwrap(await session.checkpoint(Cursor.fromParts({ lastKey: keyOf(shard - 1), token })));
      unwrap(await session.complete(RANGE_EXHAUSTED));
    }),
  );
  if (isDone) return items;
  for (const shard of HELD) await hold(shard);
  const shards = HELD.map((shard) => ShardId.fromRaw(BigInt(shard)));
  const info = { name: "w", host: "h", pid: 1, version: "1", startedAt: 1n as never, shards, itemCount: 0 };
  unwrap(await coordinator.registerWorker({ ...request, worker: WORKER, info, ttl: 3_600_000n }));
  const parked = await hold(count);
  unwrap(await parked.park("Poisoned", { detail: { error: "it broke", attempts: 1 } }));
  return items;
}

/** A store in memory, and how many shards were read from it. */
export async function openCounted(count: number, options: { readonly isDone?: boolean } = {}) {
  const memory = new MemoryStore();
  const clock = systemClock(() => 1_000_000);
  const limits = { maxShardsPerTenant: 1_000_000 };
  const items = await fill(new Coordinator({ store: memory, clock, limits }), count, options);
  let reads = 0;
  const store: CoordinationStore = new Proxy(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const answer = (value as (...given: unknown[]) => unknown).apply(target, args);
        if (name === "readShard") reads++;
        if (name === "listShards") reads += unwrap(answer as ReturnType<MemoryStore["listShards"]>).items.length;
        return answer;
      };
    },
  });
  const opened = { coordinator: new Coordinator({ store, clock, limits }), clock } as unknown as OpenedStore;
  return { opened, store, items, reads: () => reads };
}
