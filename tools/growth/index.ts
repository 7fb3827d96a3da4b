// Does a call cost more if the store holds more shards? Six calls at each size, in turns, as a figure of `pnpm bench`.
import { Cursor, ShardId, WorkerId } from "../../packages/contracts/src/index.ts";
import type { CoordinationStore, Coordinator, WorkerSession } from "../../packages/coordination/src/index.ts";
import { assert, unwrap } from "../../packages/stdx/src/index.ts";
import { figure, type FigureContent } from "../bench/figure.ts";
import { judge, ratioSpread } from "../bench/judge.ts";
import type { FormResult } from "../bench/measure.ts";
import { quantile, spreadOf } from "../bench/statistics.ts";
import { boundOf, fill, HISTORY_RUN, LIVE_SHARDS, OPEN_RUN, TENANT, WAITING_RUN } from "./world.ts";

export interface GrowthOptions {
  /** The store, as the figure's title names it. */
  readonly store: string;
  /** The numbers of shards, ascending. */
  readonly sizes: readonly number[];
  /** How many shards one write stores. */
  readonly perWrite: number;
  /** Makes a coordinator of the built package. */
  readonly coordinatorOf: (store: CoordinationStore) => Coordinator;
  readonly open: (size: number) => Promise<CoordinationStore>;
  /** After all sizes are filled, before anything is measured: returns the store of a size as it is to be used. */
  readonly settle?: (filled: ReadonlyMap<number, CoordinationStore>) => Promise<ReadonlyMap<number, CoordinationStore>>;
  /** Stops what was started. */
  readonly close: () => Promise<void>;
}

const CALLS = ["claim", "checkpoint", "complete", "status", "status, unfinished", "list"] as const;
type Call = (typeof CALLS)[number];
/** Calls whose results other calls of the same round need. */
const NEEDED: ReadonlySet<Call> = new Set<Call>(["claim", "checkpoint", "complete"]);

const ROUNDS = 51;
/** A sample is the median of this many calls, so that being interrupted once or twice does not matter. */
const CALLS_PER_ROUND = 5;
/** Completed shards are used up: the smallest store has just enough for all rounds. The others are given back. */
const COMPLETED_PER_ROUND = 3;
/** A call that takes this long is far beyond any bound: a few samples of one call each are enough. */
const SLOW_NS = 50_000_000;
const SLOW_SAMPLES = 3;
const WARM_CALLS = 400;
const PAGE = 100;
const MOST_GROWTH = 2;
/** Heap that a coordinator may keep beyond what it keeps in the smallest store. */
const MOST_HEAP_GROWTH = 1 << 20;
const SMOKE_SIZES = [1000];
/** For a machine or an hour that has no room for the largest stores. */
const MOST_SHARDS = Number(process.env["GOSSIP_BENCH_SHARDS"] ?? Infinity);

/** One store under measurement. */
interface Measured {
  readonly size: number;
  readonly coordinator: Coordinator;
  /** Nanoseconds, a sample per round. */
  readonly samples: Record<Call, number[]>;
  /** What the calls left on the heap. */
  readonly heapBytes: number;
}

/** Adds the figure of a store. */
export function growthFigure(options: GrowthOptions): void {
  figure(`Cost of a call by number of shards, ${options.store}`, async ({ isSmoke }) => {
    const sizes = isSmoke ? SMOKE_SIZES : options.sizes.filter((size) => size <= MOST_SHARDS);
    const filled = new Map<number, CoordinationStore>();
    try {
      for (const size of sizes) {
        const store = await options.open(size);
        filled.set(size, store);
        await fill(store, { size, perWrite: options.perWrite });
      }
      const stores = (await options.settle?.(filled)) ?? filled;
      const measured: Measured[] = [];
      for (const [size, store] of stores)
        measured.push(await warm(size, options.coordinatorOf(store), isSmoke ? 1 : WARM_CALLS));
      for (let round = 0; round < (isSmoke ? 1 : ROUNDS); round++) await sampleAll(inTurn(measured, round));
      return contentOf(measured);
    } finally {
      await options.close();
    }
  });
}

async function warm(size: number, coordinator: Coordinator, calls: number): Promise<Measured> {
  const samples = Object.fromEntries(CALLS.map((call) => [call, [] as number[]])) as Measured["samples"];
  const measured = { size, coordinator, samples };
  const before = heapUsed();
  for (let call = 0; call < calls; call++) {
    const session = await claim(coordinator, call);
    unwrap(await session.checkpoint(lastKeyOf(session)));
    unwrap(await session.release());
    if (call % 8 > 0) continue;
    await statusOfHistory(measured);
    await list(measured, call);
  }
  return { ...measured, heapBytes: Math.max(0, heapUsed() - before) };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

let nextCall = 1_000_000;

function inTurn<T>(all: readonly T[], round: number): T[] {
  return all.map((_, turn) => all[(round + turn) % all.length]!);
}

/**
 * One sample of every call at every size. The sizes take turns at each call, so that a ratio compares what happened within
 * milliseconds and other programs slow both sides alike.
 */
async function sampleAll(measured: readonly Measured[]): Promise<void> {
  const sessions = new Map<Measured, WorkerSession[]>(measured.map((each) => [each, []]));
  const timed = async (call: Call, count: number, act: (each: Measured, index: number) => Promise<unknown>) => {
    for (const each of measured) {
      const isSlow = !NEEDED.has(call) && (each.samples[call][0] ?? 0) > SLOW_NS;
      if (isSlow && each.samples[call].length >= SLOW_SAMPLES) continue;
      const times: number[] = [];
      for (let index = 0; index < (isSlow ? 1 : count); index++) {
        const start = process.hrtime.bigint();
        await act(each, index);
        times.push(Number(process.hrtime.bigint() - start));
      }
      each.samples[call].push(quantile(times, 0.5));
    }
  };
  const sessionOf = (each: Measured, index: number): WorkerSession => sessions.get(each)![index]!;
  await timed("claim", CALLS_PER_ROUND, async (each) =>
    sessions.get(each)!.push(await claim(each.coordinator, nextCall++)),
  );
  await timed("checkpoint", COMPLETED_PER_ROUND, async (each, index) =>
    unwrap(await sessionOf(each, index).checkpoint(lastKeyOf(sessionOf(each, index)))),
  );
  await timed("complete", COMPLETED_PER_ROUND, async (each, index) =>
    unwrap(await sessionOf(each, index).complete(lastKeyOf(sessionOf(each, index)))),
  );
  for (const held of sessions.values())
    for (const session of held.slice(COMPLETED_PER_ROUND)) unwrap(await session.release());
  await timed("status", CALLS_PER_ROUND, statusOfHistory);
  await timed("status, unfinished", CALLS_PER_ROUND, statusOfWaiting);
  await timed("list", CALLS_PER_ROUND, (each) => list(each, nextCall++));
}

async function claim(coordinator: Coordinator, call: number): Promise<WorkerSession> {
  return unwrap(await coordinator.claim({ tenant: TENANT, run: OPEN_RUN, worker: WorkerId.fromRaw(BigInt(call + 1)) }));
}

function lastKeyOf({ spec }: WorkerSession): Cursor {
  return Cursor.withLastKey(spec.keyRangeStart);
}

type Sized = Pick<Measured, "size" | "coordinator">;

async function statusOfHistory({ coordinator }: Sized): Promise<void> {
  const { active } = unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: HISTORY_RUN }));
  assert(active === LIVE_SHARDS, () => `${LIVE_SHARDS} shards are active, got ${active}`);
}

async function statusOfWaiting({ size, coordinator }: Sized): Promise<void> {
  const { active } = unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: WAITING_RUN }));
  assert(active === size / 4, () => `${size / 4} shards are active, got ${active}`);
}

/** A page from somewhere in the run. */
async function list({ size, coordinator }: Sized, call: number): Promise<void> {
  const first = Math.floor(((call * 0.618_034) % 1) * (size / 2 - PAGE - 1));
  const after = { keyRangeStart: boundOf(first), shard: ShardId.fromRaw(BigInt(first)) };
  const page = unwrap(await coordinator.listShards({ tenant: TENANT, run: OPEN_RUN, limit: PAGE, after }));
  assert(page.items.length === PAGE, () => `a page has ${PAGE} shards, got ${page.items.length}`);
}

function contentOf(measured: readonly Measured[]): FigureContent {
  const names = measured.map(({ size }) => size.toLocaleString("en"));
  const resultsOf = (call: Call): FormResult[] =>
    measured.map(({ samples }, index) => ({
      name: names[index]!,
      samples: samples[call],
      ns: spreadOf(samples[call]),
      heapBytes: undefined,
    }));
  const ratios = (call: Call): number[] => {
    const results = resultsOf(call);
    return results.map((result) => ratioSpread(result, results[0]!).median);
  };
  const least = measured[0]!;
  return {
    note: `Half of the shards belong to a run under way: a third of them finished, a third held and a third free. Claims, checkpoints, completions and pages of ${PAGE} shards are of this run. A quarter belong to a run that is finished but for ${LIVE_SHARDS} shards, and a quarter to one that has hardly begun; their status is read. Each cell is the median of ${ROUNDS} rounds in which the sizes took turns at each call, in µs, and the median ratio to the smallest store in the same round. A sample is the median of ${COMPLETED_PER_ROUND} to ${CALLS_PER_ROUND} calls. The heap is what ${WARM_CALLS} claims, checkpoints and releases, ${WARM_CALLS / 8} pages and as many looks at the status left in the process.`,
    columns: ["shards", ...CALLS, "heap kept, KiB"],
    rows: measured.map((each, index) => [
      names[index]!,
      ...CALLS.map((call) => {
        const micros = spreadOf(each.samples[call]).median / 1000;
        return `${Math.round(micros).toLocaleString("en")} (${ratios(call)[index]!.toFixed(2)}x)`;
      }),
      Math.round(each.heapBytes / 1024),
    ]),
    chart: {
      kind: "lines",
      xLabel: "shards in the store (log)",
      yLabel: `cost over that in ${names[0]!} shards`,
      isLogX: true,
      x: measured.map(({ size }) => size),
      series: CALLS.map((call) => ({ name: call, values: ratios(call) })),
      limit: { value: MOST_GROWTH, label: "promised" },
    },
    verdicts: [
      ...CALLS.flatMap((call) => {
        const bounds = names.slice(1).map((form) => ({ form, ratioAtMost: MOST_GROWTH, toBestOf: [names[0]!] }));
        return judge({ name: call, forms: {}, bounds }, resultsOf(call)).map((verdict) => ({
          ...verdict,
          sentence: `${call} among ${verdict.sentence}`,
        }));
      }),
      ...measured.slice(1).map(({ heapBytes }, index) => ({
        sentence: `heap among ${names[index + 1]!}: ${Math.round((heapBytes - least.heapBytes) / 1024)} KiB more than among ${names[0]!}, promised at most ${MOST_HEAP_GROWTH / 1024} KiB`,
        isMissed: heapBytes - least.heapBytes > MOST_HEAP_GROWTH,
      })),
    ],
  };
}
