// What does a large fleet ask of its store? 1,000 to 100,000 workers with ten shards each, through crashes, pauses, splits and
// an outage of the store, on the real kernel in simulated time.
import { figure } from "@gossip/tools/bench";
import { runLargeFleet, type LargeFleetResult } from "./large-fleet.fixture.ts";

const ITEMS_PER_SHARD = 1000;
const COMMON = {
  seed: 1,
  leaseMs: 30_000,
  checkpointMs: 10_000,
  shardMs: 30_000,
  roundTripMs: 2,
  seconds: 50,
  outage: { from: 35, to: 38 },
  crashAt: 20,
} as const;
/** After the start and before the outage. */
const STEADY = { from: 22, to: 34 } as const;

interface Row {
  readonly workers: number;
  readonly result: LargeFleetResult;
}

const made: Row[] = [];

figure("Store operations of a large fleet", async ({ isSmoke }) => {
  for (const workers of isSmoke ? [50] : [1000, 10_000, 100_000])
    made.push({ workers, result: await runLargeFleet({ ...COMMON, workers, shards: 10 * workers }) });
  return {
    note: `Ten shards per worker, checkpoints every ${COMMON.checkpointMs / 1000} s, leases of ${COMMON.leaseMs / 1000} s, ${COMMON.shardMs / 1000} s of work and ${ITEMS_PER_SHARD} items per shard, 2 % of the shards split, ${COMMON.roundTripMs} ms per store call, seed ${COMMON.seed}. One worker in a hundred crashes and one in a hundred pauses for two leases. A death is detected when the dead worker's shard can be claimed.`,
    columns: [
      "workers",
      "operations per worker and second",
      "operations a second",
      "operations per 1,000 items",
      "claim attempts per claim",
      "death detected, median",
      "death detected, longest",
      "leases lost",
    ],
    rows: made.map(({ workers, result }) => {
      const steady = mean(result.opsPerSecond.slice(STEADY.from, STEADY.to));
      const { detectionMs, claimAttempts, claims, lostLeases } = result;
      const perItem = (steady / workers) * (COMMON.shardMs / 1000 / ITEMS_PER_SHARD);
      return [
        workers.toLocaleString("en"),
        (steady / workers).toFixed(3),
        Math.round(steady).toLocaleString("en"),
        (1000 * perItem).toFixed(1),
        (claimAttempts / Math.max(1, claims)).toFixed(2),
        seconds(detectionMs[detectionMs.length >> 1]),
        seconds(detectionMs.at(-1)),
        lostLeases,
      ];
    }),
    chart: {
      kind: "lines",
      xLabel: "workers (log)",
      yLabel: "store operations a second (log)",
      isLogX: true,
      isLogY: true,
      x: made.map(({ workers }) => workers),
      series: [
        { name: "steady", values: made.map(({ result }) => mean(result.opsPerSecond.slice(STEADY.from, STEADY.to))) },
        {
          name: "first second after an outage",
          values: made.map(({ result }) => result.opsPerSecond[COMMON.outage.to]!),
        },
      ],
    },
    verdicts: made.map(({ workers, result }) => ({
      sentence: `${workers.toLocaleString("en")} workers: a death is detected after ${seconds(result.detectionMs.at(-1))} at most, promised one lease (${COMMON.leaseMs / 1000} s)`,
      isMissed: (result.detectionMs.at(-1) ?? 0) > COMMON.leaseMs,
    })),
  };
});

figure("An outage of the store, 10,000 workers", async ({ isSmoke }) => {
  const workers = isSmoke ? 50 : 10_000;
  const { opsPerSecond } =
    made.find((row) => row.workers === workers)?.result ??
    (await runLargeFleet({ ...COMMON, workers, shards: 10 * workers }));
  const { from, to } = COMMON.outage;
  const x = Array.from({ length: COMMON.seconds - 30 }, (_, index) => 30 + index);
  return {
    note: `The store is unavailable from second ${from} to second ${to}. Calls that fail in this time count too: a call tries up to eight times within a second before its worker pauses for 0.05 to 3 s, longer each time. The pauses are random, so the workers return over some seconds.`,
    columns: ["second", "store operations"],
    rows: x.map((second) => [second, opsPerSecond[second]!]),
    chart: {
      kind: "lines",
      xLabel: "second",
      yLabel: "store operations a second",
      x,
      series: [{ name: "store operations, failed ones included", values: x.map((second) => opsPerSecond[second]!) }],
    },
    verdicts: [],
  };
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "none" : `${(ms / 1000).toFixed(1)} s`;
}
