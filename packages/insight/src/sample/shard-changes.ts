import {
  FenceEpoch,
  type LogicalTime,
  type OpId,
  type ShardId,
  type ShardStatus,
  type WorkerId,
} from "@gossip/contracts";
import { isLeasedAt, type ShardRecord } from "@gossip/coordination";
import { CHANGE_OF_OP, type RunChange } from "./run-change.ts";

/** What was seen of a lease. */
interface SeenLease {
  readonly fence: FenceEpoch;
  /** The worker that held the shard, until it gave it back or its lease ran out. */
  readonly holder: WorkerId | undefined;
}

const ENDED_AS: Readonly<Record<ShardStatus, RunChange["kind"]>> = {
  Active: "ShardReleased",
  Done: "ShardCompleted",
  Parked: "ShardParked",
  Split: "ShardSplit",
};

/** Operations that are older than the previous look by more than this were reported with it. */
const SLACK_MS = 5000;
const MAX_TRACKED = 50_000;
/** Changes that one look reports. The oldest of more are dropped. */
const MAX_CHANGES = 2000;

/**
 * Derives what happened to the shards of a run from looks at their records.
 *
 * Operations are in the records' logs. Leases are not: a fence that grew is a claim, and a lease that ran out is a loss.
 */
export class ShardChanges {
  readonly #leaseMs: number;
  readonly #leases = new Map<ShardId, SeenLease>();
  /** The operations that were reported lately. */
  #reported = new Map<OpId, number>();
  #changes: RunChange[] = [];
  #sinceMs: number | undefined;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Compare a shard with the previous look. */
  visit(record: ShardRecord, now: LogicalTime): void {
    this.#visitLog(record);
    this.#visitLease(record, now);
    if (this.#changes.length > 2 * MAX_CHANGES) this.#changes = newest(this.#changes);
  }

  /** The changes since the previous look, by time. */
  take(nowMs: number): readonly RunChange[] {
    const changes = newest(this.#changes);
    this.#changes = [];
    const oldest = nowMs - 4 * SLACK_MS;
    for (const [opId, atMs] of this.#reported) if (atMs < oldest) this.#reported.delete(opId);
    this.#sinceMs = nowMs;
    return changes;
  }

  #visitLog({ shard, opLog, parkReason, spawned, fenceEpoch }: ShardRecord): void {
    const before = this.#leases.get(shard);
    // Without a claim since the previous look, the holder at that look wrote what is new.
    const holder = before?.fence === fenceEpoch ? before.holder : undefined;
    const since = this.#sinceMs === undefined ? 0 : this.#sinceMs - SLACK_MS;
    for (let index = opLog.length - 1; index >= 0; index--) {
      const { kind, opId, executedAt } = opLog[index]!;
      const atMs = Number(executedAt);
      if (atMs < since) return;
      const change = CHANGE_OF_OP[kind];
      if (change === undefined || this.#reported.has(opId)) continue;
      if (this.#reported.size < MAX_TRACKED) this.#reported.set(opId, atMs);
      this.#changes.push({
        kind: change,
        atMs,
        shard,
        opId,
        ...(holder === undefined || change === "ShardUnparked" ? {} : { worker: holder }),
        ...(change === "ShardParked" && parkReason !== undefined ? { reason: parkReason } : {}),
        ...(change === "ShardSplit" ? { children: spawned } : {}),
        ...(change === "ShardResidualCreated" ? { children: spawned.slice(-1) } : {}),
      });
    }
  }

  #visitLease(record: ShardRecord, now: LogicalTime): void {
    const { shard, fenceEpoch: fence, lease } = record;
    const before = this.#leases.get(shard);
    const holder = isLeasedAt(record, now) ? lease?.owner : undefined;
    const isClaimed = fence > (before?.fence ?? FenceEpoch.INITIAL) && lease !== undefined;
    const isNews = this.#sinceMs !== undefined || holder !== undefined;
    if (isClaimed && isNews) {
      const isTakeover = before?.holder !== undefined && before.holder !== lease.owner;
      const atMs = this.#claimedAtMs(Number(lease.deadline) - this.#leaseMs, Number(now));
      this.#changes.push({
        kind: isTakeover ? "ShardTakenOver" : "ShardAcquired",
        atMs,
        shard,
        worker: lease.owner,
        fence,
      });
    } else if (before?.holder !== undefined && holder === undefined && lease !== undefined && lease.deadline <= now) {
      this.#changes.push({ kind: "ShardLost", atMs: Number(lease.deadline), shard, worker: before.holder, fence });
    }
    // Some lists come without logs. The record's status then says how the hold ended.
    else if (before?.holder !== undefined && lease === undefined && record.opLog.length === 0)
      this.#changes.push({
        kind: ENDED_AS[record.status],
        atMs: Number(record.lastTime),
        shard,
        worker: before.holder,
      });
    const isOver = record.status === "Done" || record.status === "Split";
    if (isOver || (lease === undefined && before === undefined)) this.#leases.delete(shard);
    else if (before !== undefined || this.#leases.size < MAX_TRACKED) this.#leases.set(shard, { fence, holder });
  }

  /** A lease is renewed, so its deadline only bounds when it was claimed. */
  #claimedAtMs(latestMs: number, nowMs: number): number {
    return Math.min(nowMs, Math.max(latestMs, this.#sinceMs ?? latestMs));
  }
}

function newest(changes: readonly RunChange[]): RunChange[] {
  return changes.toSorted((a, b) => a.atMs - b.atMs).slice(-MAX_CHANGES);
}
