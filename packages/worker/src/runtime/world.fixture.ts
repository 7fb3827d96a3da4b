import { OpId, RunId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { compareBytes, ok, unwrap } from "@gossip/stdx";
import type { ShardSink, Sink, SinkRequest } from "../sinks/sink.ts";
import type { Item, ItemBatch, Source } from "../sources/source.ts";
import { ManualTime } from "../time/manual-time.fixture.ts";
import { startRun } from "./start-run.ts";

export interface NumberedItem extends Item {
  readonly n: number;
}

/** A letter followed by the number, so that byte order is numeric order. */
export function keyOf(n: number): Uint8Array {
  const key = new Uint8Array(6);
  key[0] = 0x6b;
  new DataView(key.buffer).setUint32(2, n);
  return key;
}

export interface NumberedOptions {
  readonly batchSize?: number;
  /** Called before each batch. May wait or throw. */
  readonly between?: (from: number) => Promise<void>;
  /** Whether the source reports a problem at this number instead of an item. */
  readonly isProblem?: (n: number) => boolean;
}

/** The number in a key. */
function numberOf(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.length).getUint32(2);
}

/** Items 0 to `count - 1`. */
export function numberedSource(
  count: number,
  { batchSize = 7, between = async () => {}, isProblem = () => false }: NumberedOptions = {},
): Source<NumberedItem> {
  const all = Array.from({ length: count }, (_, n): NumberedItem => ({ n, key: keyOf(n) }));
  return {
    name: "numbers",
    plan: async ({ shardCount }) => {
      const cuts = Array.from({ length: shardCount - 1 }, (_, index) =>
        keyOf(Math.floor(((index + 1) * count) / shardCount)),
      );
      const bounds = [Uint8Array.of(0x6b), ...cuts, Uint8Array.of(0x6c)];
      return ok(bounds.slice(1).map((end, index) => ShardSpec.withRange({ start: bounds[index]!, end })));
    },
    async *read({ range: { start, end }, after }): AsyncGenerator<ItemBatch<NumberedItem>> {
      const items = all.filter(
        ({ key }) =>
          compareBytes(key, start) >= 0 &&
          (end.length === 0 || compareBytes(key, end) < 0) &&
          (after === undefined || compareBytes(key, after) > 0),
      );
      for (let from = 0; from < items.length; from += batchSize) {
        await between(items[from]!.n);
        const batch = items.slice(from, from + batchSize);
        yield {
          items: batch.filter(({ n }) => !isProblem(n)),
          problems: batch.filter(({ n }) => isProblem(n)).map(({ key }) => ({ key, reason: "unreadable" })),
        };
      }
    },
  };
}

export const RUN = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(7)), run: RunId.fromRaw(9n) };
export const LEASE_MS = 3000;

/** A coordinator in memory whose clock moves with the timers of the workers. */
export class World {
  readonly clock = new ManualClock(1_000_000n);
  readonly time: ManualTime;
  readonly store: CoordinationStore;
  readonly coordinator: Coordinator;
  /** Above those that tests choose themselves. */
  #nextOpId = 1n << 40n;

  constructor({
    seed = 1,
    wrap = (store) => store,
  }: { readonly seed?: number; readonly wrap?: (store: CoordinationStore) => CoordinationStore } = {}) {
    let carriedMs = 0;
    this.time = new ManualTime({
      seed,
      onAdvance: (ms) => {
        carriedMs += ms;
        const whole = Math.floor(carriedMs);
        carriedMs -= whole;
        this.clock.advance(BigInt(whole));
      },
    });
    this.store = wrap(new MemoryStore());
    this.coordinator = this.connect();
  }

  /** Not random: the ids of the parts of a shard follow from op ids, and the order of claims from both. */
  readonly newOpId = (): OpId => OpId.fromRaw(this.#nextOpId++);

  /** Another process's coordinator on the same store. */
  connect(): Coordinator {
    const retry = { sleep: (ms: number) => this.time.sleep(ms), random: () => this.time.random() };
    return new Coordinator({ store: this.store, clock: this.clock, retry, newOpId: this.newOpId });
  }

  async start(
    source: Source,
    shardCount = 1,
    config: { readonly maxShardRetries?: number; readonly leaseDuration?: bigint } = {},
  ): Promise<void> {
    unwrap(
      await startRun({
        coordinator: this.coordinator,
        run: RUN,
        source,
        shardCount,
        config: { leaseDuration: BigInt(LEASE_MS), ...config },
      }),
    );
  }
}

/**
 * A sink that follows the contract: only results covered by a checkpointed token count, and each holder continues after
 * it. Skipped numbers count too.
 */
export class TokenSink implements Sink<NumberedItem, unknown> {
  /** What each holder wrote, by shard and fence. */
  readonly parts = new Map<string, number[]>();
  isBroken = false;
  /** Results written after the shard was left. */
  lateWrites = 0;
  readonly #pause: () => Promise<unknown>;

  /** `pause` is how long a flush takes. */
  constructor(pause: () => Promise<unknown> = () => Promise.resolve()) {
    this.#pause = pause;
  }

  async open({ shard, fence, token }: SinkRequest): Promise<ShardSink<NumberedItem, unknown>> {
    const part = `${shard.shard}/${fence}`;
    const written: number[] = [];
    this.parts.set(part, written);
    const earlier = token === undefined ? [] : (JSON.parse(new TextDecoder().decode(token)) as [string, number][]);
    let isFlushing = false;
    let isClosed = false;
    return {
      write: ({ n }) => {
        if (isClosed) this.lateWrites++;
        if (isFlushing) throw new Error("written to while it was flushed");
        written.push(n);
      },
      skip: ({ key }) => {
        if (isFlushing) throw new Error("written to while it was flushed");
        written.push(numberOf(key));
      },
      flush: async () => {
        if (isFlushing) throw new Error("flushed while it was flushed");
        isFlushing = true;
        const count = written.length;
        await this.#pause();
        isFlushing = false;
        if (this.isBroken) throw new Error("the sink is full");
        return new TextEncoder().encode(JSON.stringify([...earlier, [part, count]]));
      },
      close: async () => {
        isClosed = true;
      },
    };
  }

  /** The results covered by the tokens of the run's shards. */
  async results(coordinator: Coordinator): Promise<number[]> {
    const results: number[] = [];
    const page = unwrap(await coordinator.listShards({ ...RUN, limit: 1000 }));
    for (const { shardKey } of page.items.map((summary) => ({ shardKey: { run: RUN.run, shard: summary.shard } }))) {
      const record = unwrap(await coordinator.getShard({ tenant: RUN.tenant, key: shardKey }));
      const { token } = record!.cursor;
      if (token === undefined) continue;
      for (const [part, count] of JSON.parse(new TextDecoder().decode(token)) as [string, number][]) {
        results.push(...this.parts.get(part)!.slice(0, count));
      }
    }
    return results;
  }
}
