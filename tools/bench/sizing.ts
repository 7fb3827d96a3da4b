// How many workers a store carries, from the recorded rate of durable checkpoints.
import type { PerformanceRecord } from "./record.ts";

interface SizedStore {
  readonly store: string;
  readonly file: string;
  readonly comparison: string;
  readonly shards: string;
}

const STORES: readonly SizedStore[] = [
  {
    store: "PostgreSQL",
    file: "packages/coordination-postgres/src/checkpoint.bench.ts",
    comparison: "postgres: durable checkpoint, 64 sessions",
    shards: "1,000,000",
  },
  {
    store: "etcd",
    file: "packages/coordination-etcd/src/checkpoint.bench.ts",
    comparison: "etcd: durable checkpoint, 64 sessions",
    shards: "1,000,000",
  },
];

const WORKERS = [100, 1000, 10_000, 100_000];
const INTERVALS = [1, 2, 5, 10, 20, 30, 60, 120, 300];
/** A server that is busy all the time has no room for claims, splits and an outage that ends. */
const LOAD = 0.5;
/** Renewals need a lease of three checkpoint intervals, and a write may take a quarter of a lease. */
const LEASE_INTERVALS = 3;
const LEAST_LEASE = 30;

/** The section about sizing. Empty if no store was measured. */
export function sizing(record: PerformanceRecord): string {
  const rows = STORES.flatMap(({ store, file, comparison, shards }) => {
    const ours = record.files[file]?.comparisons.find(({ name }) => name === comparison)?.forms[0];
    if (ours === undefined) return [];
    const capacity = 1e9 / ours.ns;
    return WORKERS.flatMap((workers) => {
      const interval = INTERVALS.find((seconds) => workers / seconds <= LOAD * capacity);
      if (interval === undefined) return [];
      const lease = Math.max(LEAST_LEASE, LEASE_INTERVALS * interval);
      const cells = [workers, Math.round(workers / interval)].map((value) => value.toLocaleString("en"));
      return [`| ${store} | ${cells[0]!} | ${shards} | ${cells[1]!} | ${interval} s | ${lease} s |`];
    });
  });
  if (rows.length === 0) return "";
  return [
    "## Sizing",
    "",
    "One shard in work per worker. The interval is the shortest that keeps the store below half of the checkpoints per",
    "second that were measured here, with the server and its callers on two shared cores: a larger server allows shorter",
    "ones. A worker that crashes repeats at most one interval of work. Shards include finished ones.",
    "",
    "| store | workers | shards, measured | checkpoints a second | `checkpointEvery` | lease, at least |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
    "",
  ].join("\n");
}
