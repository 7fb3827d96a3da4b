import type { ExploreBounds } from "./explore-state.ts";
import type { MessageKind } from "./message.ts";

const WORKER_REQUESTS: readonly MessageKind[] = [
  "Acquire",
  "Renew",
  "Checkpoint",
  "Complete",
  "Park",
  "Release",
  "SplitReplace",
  "SplitResidual",
];

/** The clock of the second worker's coordinator is behind, in every world. */
function twoWorkers(first: number, second: number): ExploreBounds["workers"] {
  return [
    { requests: first, clockLag: 0 },
    { requests: second, clockLag: 1 },
  ];
}

/**
 * The worlds that are explored: two workers and two shards each, and everything that can happen within the bounds.
 *
 * One world with all requests would be too large to explore deeply, so the first is wide and the others are deep: each
 * has only requests that affect each other.
 */
export const EXPLORE_WORLDS = {
  everything: { workers: twoWorkers(2, 2), operatorRequests: 0, ticks: 2, maxShards: 4, menu: WORKER_REQUESTS },
  leases: {
    workers: twoWorkers(3, 2),
    operatorRequests: 0,
    ticks: 2,
    maxShards: 2,
    menu: ["Acquire", "Renew", "Checkpoint"],
  },
  splits: {
    workers: twoWorkers(3, 1),
    operatorRequests: 0,
    ticks: 2,
    maxShards: 5,
    menu: ["Acquire", "Checkpoint", "Complete", "SplitReplace", "SplitResidual"],
  },
  parking: {
    workers: twoWorkers(2, 2),
    operatorRequests: 1,
    ticks: 2,
    maxShards: 2,
    menu: ["Acquire", "Checkpoint", "Park", "Unpark"],
    maxShardRetries: 0,
  },
  runs: {
    workers: twoWorkers(2, 1),
    operatorRequests: 2,
    ticks: 1,
    maxShards: 3,
    menu: ["Acquire", "Renew", "Checkpoint", "SplitResidual", "FailRun", "CancelRun", "DeleteRun"],
  },
  endings: {
    workers: twoWorkers(2, 2),
    operatorRequests: 2,
    ticks: 1,
    maxShards: 2,
    menu: ["Acquire", "Complete", "CompleteRun", "CancelRun"],
  },
} as const satisfies Readonly<Record<string, ExploreBounds>>;

export type ExploreWorldName = keyof typeof EXPLORE_WORLDS;
