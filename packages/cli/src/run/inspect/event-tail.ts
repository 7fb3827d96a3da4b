import type { FenceEpoch, LogicalTime, OpId, RunStatus, ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord } from "@gossip/coordination";
import { decodeTotalsToken, type ItemTotals } from "../results/item-totals.ts";

/** An operation on a run or a shard. */
export interface StoredEvent {
  readonly at: LogicalTime;
  /** `undefined` for operations on the run. */
  readonly shard: ShardId | undefined;
  /** The operation, `Acquired` if a worker acquired the shard, `Created` if a split created it, or the run's status. */
  readonly what: string;
  /** What the shard has done, if it is complete. */
  readonly totals?: ItemTotals;
}

interface Seen {
  readonly fence: FenceEpoch;
  readonly lastOp: OpId | undefined;
}

/**
 * Derives events from the records of a run: the last operations in each record, and what changed since the previous
 * call. If more operations happen between two calls than a record keeps, the older ones are missed.
 */
export class EventTail {
  readonly #seen = new Map<ShardId, Seen>();
  #runStatus: RunStatus | undefined;
  #hasLooked = false;

  /** Returns what is new since the previous call, by time. The first call returns all operations in the records. */
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

  #ofShard({ shard, fenceEpoch, opLog, lease, parent, cursor }: ShardRecord, now: LogicalTime): StoredEvent[] {
    const before = this.#seen.get(shard);
    this.#seen.set(shard, { fence: fenceEpoch, lastOp: opLog.at(-1)?.opId });
    const events: StoredEvent[] = [];
    if (this.#hasLooked && before === undefined && parent !== undefined)
      events.push({ at: now, shard, what: "Created" });
    if (this.#hasLooked && lease !== undefined && (before === undefined || fenceEpoch > before.fence))
      events.push({ at: now, shard, what: "Acquired" });
    const known = opLog.findIndex(({ opId }) => opId === before?.lastOp);
    const totals = decodeTotalsToken(cursor.token);
    for (const { executedAt, kind } of opLog.slice(known + 1)) {
      const done = kind === "Complete" && totals !== undefined ? { totals } : {};
      events.push({ at: executedAt, shard, what: kind, ...done });
    }
    return events;
  }
}
