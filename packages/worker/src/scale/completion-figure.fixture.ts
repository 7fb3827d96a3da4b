// Completion time in simulated time, next to fixed sharding and a central queue, as a figure of `pnpm bench`.
import { figure } from "@gossip/tools/bench";
import { makeJobWorld, WORLDS, type WorldName } from "./job-world.fixture.ts";
import { runFleet } from "./simulated-fleet.fixture.ts";
import { scheduleMs, staticParts } from "./static-schedules.fixture.ts";

export interface JobSize {
  readonly workers: number;
  readonly items: number;
  /** What an item costs on average. */
  readonly meanMs: number;
}

export const TIMES = { roundTripMs: 2, leaseMs: 15_000 } as const;
export const SEED = 1;
const SHARDS_PER_WORKER = [1, 8, 64];
const MOST_OVER_IDEAL = 1.05;
/**
 * A run may take longer than the best fixed sharding by what its dearest item costs, and by no more than this part of
 * the fixed sharding. No schedule is finer than one item, and the model of fixed sharding waits for no messages but its
 * own.
 */
const MOST_OVER_FIXED = 0.01;

/** The shards that `gossip run` plans by default: 8 for each worker, at least 32. */
export function plannedShards(workers: number): number {
  return Math.max(32, 8 * workers);
}

export interface Measured {
  readonly overIdeal: number;
  readonly fixed: readonly number[];
  readonly queue: number;
  /** What the dearest item costs. */
  readonly dearestItem: number;
  readonly splits: number;
  readonly storeCallsPerSecond: number;
}

export async function measureCompletion(name: WorldName, { workers, items, meanMs }: JobSize): Promise<Measured> {
  const world = makeJobWorld({ name, itemCount: items, workerCount: workers, meanMs, seed: SEED });
  const fleet = await runFleet(world, { ...TIMES, shardCount: plannedShards(workers) });
  if (fleet.itemsMissed > 0) throw new Error(`${fleet.itemsMissed} items were left out`);
  const over = (ms: number): number => ms / world.idealMs;
  const calls = [...fleet.storeCalls.values()].reduce((sum, count) => sum + count, 0);
  const everyItem = Array.from({ length: items + 1 }, (_, index) => index);
  return {
    overIdeal: over(fleet.completionMs),
    fixed: SHARDS_PER_WORKER.map((per) => over(scheduleMs(world, staticParts(world, workers * per), TIMES))),
    queue: over(scheduleMs(world, everyItem, TIMES)),
    dearestItem: over(world.costs.reduce((most, each) => Math.max(most, each), 0)),
    splits: fleet.splits,
    storeCallsPerSecond: (1000 * calls) / fleet.completionMs,
  };
}

/** Adds a figure for one fleet over all worlds. */
export function completionFigure(size: JobSize): void {
  const { workers, items, meanMs } = size;
  figure(`Completion time, ${workers.toLocaleString("en")} workers`, async ({ isSmoke }) => {
    const worlds = isSmoke ? WORLDS.slice(0, 1) : WORLDS;
    const asked = isSmoke ? { workers: 4, items: 200, meanMs } : size;
    const measured: Measured[] = [];
    for (const name of worlds) measured.push(await measureCompletion(name, asked));
    return {
      note: `${items.toLocaleString("en")} items of ${meanMs} ms on average, one process per worker, ${TIMES.roundTripMs} ms per store call, leases of ${TIMES.leaseMs / 1000} s, ${plannedShards(workers).toLocaleString("en")} planned shards, seed ${SEED}. Each value is a completion time over the ideal, which is all work divided by all speed. Fixed shards and the queue are a model with the same store calls and no other cost.`,
      columns: [
        "world",
        "gossip",
        ...SHARDS_PER_WORKER.map((per) => `fixed, ${per} a worker`),
        "queue",
        "splits",
        "store calls a second",
      ],
      rows: measured.map((each, index) => [
        worlds[index]!,
        each.overIdeal.toFixed(3),
        ...each.fixed.map((value) => value.toFixed(3)),
        each.queue.toFixed(3),
        each.splits,
        Math.round(each.storeCallsPerSecond),
      ]),
      chart: {
        kind: "bars",
        xLabel: "",
        yLabel: "completion time over ideal (log)",
        isLogY: true,
        x: worlds,
        series: [
          { name: "gossip", values: measured.map(({ overIdeal }) => overIdeal) },
          ...SHARDS_PER_WORKER.map((per, index) => ({
            name: `fixed, ${per} a worker`,
            values: measured.map(({ fixed }) => fixed[index]!),
          })),
          { name: "central queue", values: measured.map(({ queue }) => queue) },
        ],
      },
      verdicts: measured.flatMap((each, index) => verdictsOf(worlds[index]!, each)),
    };
  });
}

function verdictsOf(
  name: WorldName,
  { overIdeal, fixed, dearestItem }: Measured,
): { sentence: string; isMissed: boolean }[] {
  const bestFixed = Math.min(...fixed);
  const most = bestFixed + Math.min(dearestItem, MOST_OVER_FIXED * bestFixed);
  return [
    {
      sentence: `${name}: ${overIdeal.toFixed(3)}x of the ideal, promised at most ${MOST_OVER_IDEAL}x`,
      isMissed: overIdeal > MOST_OVER_IDEAL,
    },
    {
      sentence: `${name}: ${(overIdeal / bestFixed).toFixed(4)}x of the best fixed sharding, promised at most ${(most / bestFixed).toFixed(4)}x, one item more`,
      isMissed: overIdeal > most,
    },
  ];
}
