import type { FenceEpoch, LogicalTime, OpId, RunStatus, ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord } from "@gossip/coordination";

/** Something that was done to a run or a shard. */
export interface StoredEvent {
  readonly at: LogicalTime;
  /** `undefined` where it was done to the run. */
  readonly shard: ShardId | undefined;
  /** The operation, `Acquired` where a worker took a shard, `Created` where a split made one, or the run's status. */
  readonly what: string;
}

interface Seen {
  readonly fence: FenceEpoch;
  readonly lastOp: OpId | undefined;
}

/**
 * Tells what was done to a run, from what its records remember: the last operations of each, and what has changed from
 * one look to the next. What happened between two looks, and more of it than a record remembers, is not seen.
 */
export class EventTail {
  readonly #seen = new Map<ShardId, Seen>();
  #runStatus: RunStatus | undefined;
  #hasLooked = false;

  /** What is new since the look before, by time. The first look gives everything that is remembered. */
  look(run: RunRecord, shards: readonly ShardRecord[], now: LogicalTime): StoredEvent[] {
    const events = this.#ofRun(run);
    for (const shard of shards) events.push(...this.#ofShard(shard, now));
    this.#hasLooked = true;
    return events.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
  }

  #ofRun({ status, createdAt, completedAt }: RunRecord): StoredEvent[] {
    const before = this.#runStatus;
    this.#runStatus = status;
    const events: StoredEvent[] = [];
    if (before === undefined) events.push({ at: createdAt, shard: undefined, what: "RunCreated" });
    if (before !== status && completedAt !== undefined)
      events.push({ at: completedAt, shard: undefined, what: `Run${status}` });
    return events;
  }

  #ofShard({ shard, fenceEpoch, opLog, lease, parent }: ShardRecord, now: LogicalTime): StoredEvent[] {
    const before = this.#seen.get(shard);
    this.#seen.set(shard, { fence: fenceEpoch, lastOp: opLog.at(-1)?.opId });
    const events: StoredEvent[] = [];
    if (this.#hasLooked && before === undefined && parent !== undefined)
      events.push({ at: now, shard, what: "Created" });
    if (this.#hasLooked && lease !== undefined && (before === undefined || fenceEpoch > before.fence))
      events.push({ at: now, shard, what: "Acquired" });
    const known = opLog.findIndex(({ opId }) => opId === before?.lastOp);
    for (const { executedAt, kind } of opLog.slice(known + 1)) events.push({ at: executedAt, shard, what: kind });
    return events;
  }
}
