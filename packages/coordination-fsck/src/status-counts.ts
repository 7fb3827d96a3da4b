import type { ShardStatus } from "@gossip/contracts";

/** The statuses that are counted. The rest of a run's shards are active. */
export type CountedStatus = Exclude<ShardStatus, "Active">;

export const COUNTED_STATUSES: readonly CountedStatus[] = ["Done", "Split", "Parked"];

/**
 * How many shards of a run are in each status that is left rarely: or, of a change, how many more.
 *
 * Active shards are not counted, so that claims, renewals and checkpoints never touch the counts.
 */
export type StatusCounts = Readonly<Record<CountedStatus, number>>;

interface HasStatus {
  readonly status: ShardStatus;
}

/**
 * Status counts of runs. With them the status of a run costs the same for any number of shards.
 *
 * A store implements them so:
 *
 * - Add `StatusCounts.change(before, after)` in the transaction that writes a shard, if it is not `undefined`, and
 *   `StatusCounts.of(created)` in the one that creates shards. Never in another one: they must be exact.
 * - Remove them with their run.
 * - A run from before has none until a moment at which no older version can write. Count its shards until then.
 * - Return them from `RunView.statusCounts`. `rebuildIndexes` corrects them, and writes those that are missing.
 */
export const StatusCounts = {
  NONE: Object.freeze({ Done: 0, Split: 0, Parked: 0 }) as StatusCounts,

  of(shards: Iterable<HasStatus>): StatusCounts {
    const counts = { Done: 0, Split: 0, Parked: 0 };
    for (const { status } of shards) if (status !== "Active") counts[status]++;
    return counts;
  },

  /** What a write changes; `undefined` if it changes nothing, as most do. */
  change(before: HasStatus, after: HasStatus): StatusCounts | undefined {
    if (before.status === after.status) return undefined;
    const change = { Done: 0, Split: 0, Parked: 0 };
    if (before.status !== "Active") change[before.status]--;
    if (after.status !== "Active") change[after.status]++;
    return change;
  },

  plus(a: StatusCounts, b: StatusCounts): StatusCounts {
    return { Done: a.Done + b.Done, Split: a.Split + b.Split, Parked: a.Parked + b.Parked };
  },

  minus(a: StatusCounts, b: StatusCounts): StatusCounts {
    return { Done: a.Done - b.Done, Split: a.Split - b.Split, Parked: a.Parked - b.Parked };
  },

  isEqual(a: StatusCounts, b: StatusCounts): boolean {
    return StatusCounts.differences(a, b) === 0;
  },

  /** In how many statuses they differ. */
  differences(a: StatusCounts, b: StatusCounts): number {
    return COUNTED_STATUSES.filter((status) => a[status] !== b[status]).length;
  },
} as const;
