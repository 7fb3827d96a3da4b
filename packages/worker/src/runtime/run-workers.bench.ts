// What the runtime adds to a loop over the same items: claims, checkpoints, renewals, order checks, and its work per
// item. `process` does nothing, so the whole difference is overhead. One call is a whole run of that many items over an
// in-memory store.
import { RunId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { assert, ok, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { runWorkers, startRun, type Item, type Source } from "@gossip/worker";

const ITEM_COUNT = process.argv.includes("--smoke") ? 4_000 : 48_000;
const BATCH_SIZE = 1_000;
const SHARD_COUNT = 4;

function keyOf(n: number): Uint8Array {
  const key = new Uint8Array(16);
  new DataView(key.buffer).setUint32(12, n);
  return key;
}

/** Prepared batches, so that reading costs next to nothing. */
const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => {
  const from = (shard * ITEM_COUNT) / SHARD_COUNT;
  const batches: { readonly items: readonly Item[] }[] = [];
  for (let n = from; n < from + ITEM_COUNT / SHARD_COUNT; n += BATCH_SIZE) {
    batches.push({ items: Array.from({ length: BATCH_SIZE }, (_, index) => ({ key: keyOf(n + index) })) });
  }
  return { start: keyOf(from), end: keyOf(from + ITEM_COUNT / SHARD_COUNT), batches };
});

const source: Source = {
  name: "prepared",
  plan: async () => ok(shards.map(({ start, end }) => ShardSpec.withRange({ start, end }))),
  async *read({ range }) {
    const shard = shards.find(({ start }) => Buffer.compare(start, range.start) === 0);
    assert(shard !== undefined, "shards are read as they were planned");
    yield* shard.batches;
  },
};

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const noSplit = { split: false as const, concurrency: SHARD_COUNT };
const signal = new AbortController().signal;
let touched = 0;

/** Every run has its own store, small enough that creating it does not affect the measurement. */
async function work(process: () => void | Promise<void>, itemConcurrency: number): Promise<number> {
  const coordinator = new Coordinator({
    store: new MemoryStore({ slabCapacity: 1 << 16 }),
    clock: systemClock(Date.now),
  });
  const run = { tenant, run: RunId.fromRaw(1n) };
  unwrap(await startRun({ coordinator, run, source, shardCount: SHARD_COUNT, config: { leaseDuration: 30_000n } }));
  const { items } = await runWorkers({ coordinator, run, source, process, itemConcurrency, ...noSplit });
  assert(items === ITEM_COUNT, "a run ends");
  return items;
}

async function bareLoop(): Promise<number> {
  for (const { start, end } of shards) {
    for await (const { items } of source.read({ range: { start, end }, signal })) {
      for (const item of items) touched += item.key.length;
    }
  }
  return touched;
}

/** The least that keeps a cursor: check the order, and make a call for each item. */
async function carefulLoop(): Promise<number> {
  let last: Uint8Array | undefined;
  for (const { start, end } of shards) {
    for await (const { items } of source.read({ range: { start, end }, signal })) {
      for (const item of items) {
        if (last !== undefined && Buffer.compare(last, item.key) >= 0) throw new Error("out of order");
        last = item.key;
        touched += item.key.length;
      }
    }
  }
  return touched;
}

async function awaitingLoop(): Promise<number> {
  for (const { start, end } of shards) {
    for await (const { items } of source.read({ range: { start, end }, signal })) {
      for (const item of items) await (async () => void (touched += item.key.length))();
    }
  }
  return touched;
}

const options = { callsPerRun: ITEM_COUNT, measureHeap: false, rounds: 15 };

compare("items that answer at once", {
  forms: {
    runWorkers: () => work(() => undefined, 1),
    "bare loop": bareLoop,
    "loop that checks the order": carefulLoop,
  },
  bounds: [
    { form: "runWorkers", ratioAtMost: 6, toBestOf: ["loop that checks the order"] },
    { form: "runWorkers", perSecondAtLeast: 1_000_000 },
  ],
  options,
});

compare("items that answer with a promise, 16 at once", {
  forms: { runWorkers: () => work(async () => undefined, 16), "loop that awaits each": awaitingLoop },
  bounds: [{ form: "runWorkers", ratioAtMost: 8, toBestOf: ["loop that awaits each"] }],
  options,
});
