import { ShardId } from "@gossip/contracts";
import type { Source, WorkEstimate } from "@gossip/worker";
import { countAheadOfWork, type CountTime } from "./count-ahead-of-work.ts";
import { estimateWork } from "./estimate-work.ts";
import type { ShardWork } from "./expected-shard.ts";
import { ProgressEstimator, type ProgressFigures } from "./progress-estimator.ts";

export interface SimulatedRun {
  /** The keys of all items, in order. */
  readonly keys: readonly Uint8Array[];
  /** Where the plan cuts them. */
  readonly bounds: readonly Uint8Array[];
  readonly source: Pick<Source, "estimate">;
  /** How long a step of the source's estimate takes. */
  readonly stepMs?: number;
  readonly workers: number;
  /** Items per second of one worker at a time. */
  readonly rate: (atMs: number) => number;
  /** What other processes do is seen only when they store it. */
  readonly isElsewhere?: boolean;
}

/** What a display shows at a time, and what is true then. */
export interface Shown extends ProgressFigures {
  readonly atMs: number;
  readonly truth: number;
}

export interface SimulatedEnd {
  readonly shown: readonly Shown[];
  readonly endMs: number;
}

const TICK_MS = 500;
const STORE_EVERY_MS = 1000;
/** The key space of a source that has no bounds of its own. */
const START = Uint8Array.of(0);
const END = new Uint8Array(16).fill(0xff);

interface Shard {
  readonly root: ShardId;
  readonly start: Uint8Array;
  end: Uint8Array;
  readonly low: number;
  high: number;
  /** Items that are done, and those of them that are stored. */
  done: number;
  stored: number;
  isHeld: boolean;
}

/** Workers that take shards, store their progress now and then, and split the largest one when none is left. */
export async function simulateRun(run: SimulatedRun): Promise<SimulatedEnd> {
  const clock = new SimulatedClock();
  const counting = new AbortController();
  let known: WorkEstimate = { spans: [] };
  const count = countAheadOfWork({
    source: slowedDown(run, clock),
    time: clock,
    signal: counting.signal,
    onEstimate: (estimate) => (known = estimate),
  });
  const world = new World(run);
  const estimator = new ProgressEstimator();
  const shown: Shown[] = [];
  while (!world.isDone) {
    await clock.advance(TICK_MS);
    world.work(clock.nowMs(), TICK_MS);
    const { items, unstored, truth } = world;
    const left = estimateWork(world.shardWork(), known);
    const atMs = clock.nowMs();
    shown.push({
      ...estimator.add({ atMs, items, unstored: run.isElsewhere === true ? 0 : unstored, left }),
      atMs,
      truth,
    });
  }
  counting.abort();
  clock.wakeAll();
  await count;
  return { shown, endMs: clock.nowMs() };
}

function slowedDown({ source, stepMs = 20 }: SimulatedRun, clock: SimulatedClock): Pick<Source, "estimate"> {
  return {
    async *estimate(request): AsyncGenerator<WorkEstimate> {
      for await (const estimate of source.estimate?.(request) ?? []) {
        await clock.sleep(stepMs);
        yield estimate;
      }
    },
  };
}

class World {
  readonly #run: SimulatedRun;
  readonly #shards: Shard[] = [];
  readonly #credit: number[];
  readonly #held: (Shard | undefined)[];
  #storedMs = 0;
  #state = 12_345;

  constructor(run: SimulatedRun) {
    this.#run = run;
    this.#credit = Array.from({ length: run.workers }, () => 0);
    this.#held = this.#credit.map(() => undefined);
    const edges = [START, ...run.bounds, END];
    for (let index = 0; index + 1 < edges.length; index++) {
      const [start, end] = [edges[index]!, edges[index + 1]!];
      this.#shards.push({
        root: ShardId.fromRaw(BigInt(index)),
        start,
        end,
        low: this.#indexOf(start),
        high: this.#indexOf(end),
        done: 0,
        stored: 0,
        isHeld: false,
      });
    }
  }

  get isDone(): boolean {
    return this.#shards.every(({ low, high, done }) => done === high - low);
  }

  get items(): number {
    return this.#shards.reduce((sum, { stored }) => sum + stored, 0);
  }

  get unstored(): number {
    return this.#shards.reduce((sum, { done, stored }) => sum + done - stored, 0);
  }

  get truth(): number {
    return (this.items + this.unstored) / this.#run.keys.length;
  }

  work(nowMs: number, ms: number): void {
    for (let worker = 0; worker < this.#run.workers; worker++) {
      this.#credit[worker]! += (this.#run.rate(nowMs) * ms) / 1000;
      while (this.#credit[worker]! >= 1) {
        const shard = this.#held[worker] ?? this.#claim(worker);
        if (shard === undefined) {
          this.#credit[worker] = 0;
          break;
        }
        const items = Math.min(Math.floor(this.#credit[worker]!), shard.high - shard.low - shard.done);
        shard.done += items;
        this.#credit[worker]! -= items;
        if (shard.done < shard.high - shard.low) continue;
        shard.stored = shard.done;
        this.#held[worker] = undefined;
      }
    }
    if (nowMs - this.#storedMs < STORE_EVERY_MS) return;
    this.#storedMs = nowMs;
    for (const shard of this.#shards) shard.stored = shard.done;
  }

  shardWork(): ShardWork[] {
    return this.#shards.map(({ root, start, end, low, high, stored, isHeld }) => ({
      root,
      range: { start, end },
      lastKey: stored === 0 ? undefined : this.#run.keys[low + stored - 1]!,
      status: isHeld && stored === high - low ? "Done" : "Active",
      items: stored,
    }));
  }

  #claim(worker: number): Shard | undefined {
    const free = this.#shards.filter(({ isHeld }) => !isHeld);
    const shard = free[this.#random(free.length)] ?? this.#split();
    if (shard !== undefined) shard.isHeld = true;
    this.#held[worker] = shard;
    return shard;
  }

  /** Split off half of what is left of the largest shard. */
  #split(): Shard | undefined {
    const left = ({ low, high, done }: Shard): number => high - low - done;
    const [largest] = this.#shards.toSorted((a, b) => left(b) - left(a));
    if (largest === undefined || left(largest) < 2) return undefined;
    const cut = largest.high - (left(largest) >> 1);
    const { root, end, high } = largest;
    const start = this.#run.keys[cut]!;
    const part = { root, start, end, low: cut, high, done: 0, stored: 0, isHeld: false };
    largest.high = cut;
    largest.end = start;
    this.#shards.push(part);
    return part;
  }

  #indexOf(bound: Uint8Array): number {
    const index = this.#run.keys.findIndex((key) => Buffer.compare(key, bound) >= 0);
    return index === -1 ? this.#run.keys.length : index;
  }

  #random(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

/** Time that passes only when the simulation lets it. */
class SimulatedClock implements CountTime {
  #nowMs = 0;
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ atMs: this.#nowMs + ms, wake }));
  }

  async advance(ms: number): Promise<void> {
    const until = this.#nowMs + ms;
    await settle();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#sleepers = this.#sleepers.filter((each) => each !== next);
      next.wake();
      await settle();
    }
    this.#nowMs = until;
  }

  wakeAll(): void {
    for (const { wake } of this.#sleepers.splice(0)) wake();
  }

  #next(until: number): { readonly atMs: number; readonly wake: () => void } | undefined {
    return this.#sleepers.filter(({ atMs }) => atMs <= until).toSorted((a, b) => a.atMs - b.atMs)[0];
  }
}

/** Let everything run that does not wait for the clock. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
