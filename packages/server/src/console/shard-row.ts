import type { LogicalTime, WorkerId } from "@gossip/contracts";
import { isLeasedAt, type ShardRecord, type WorkerEntry } from "@gossip/coordination";
import { decodeTotalsToken, leafStateOf } from "@gossip/insight";
import { writeId, type ShardRowWire } from "@gossip/protocol";
import type { KeyShower } from "./key-shower.ts";

export interface RowContext {
  readonly keys: KeyShower;
  readonly now: LogicalTime;
  readonly workers: ReadonlyMap<WorkerId, WorkerEntry>;
}

/** A shard in a list. */
export function shardRowOf(record: ShardRecord, { keys, now, workers }: RowContext): ShardRowWire {
  const { shard, status, spec, cursor, lease, parent, spawned, parkReason, attempts, fenceEpoch } = record;
  const [start, end] = [keys.key(spec.keyRangeStart), keys.end(spec.keyRangeEnd)];
  const holder = isLeasedAt(record, now) ? lease : undefined;
  const totals = decodeTotalsToken(cursor.token);
  const name = holder === undefined ? undefined : workers.get(holder.owner)?.name;
  return {
    shard: writeId(shard),
    state: status === "Split" ? "split" : leafStateOf(record, now),
    from: start.position,
    to: Math.max(start.position, end.position),
    start,
    end,
    ...(cursor.lastKey === undefined ? {} : { cursor: keys.key(cursor.lastKey) }),
    ...(holder === undefined ? {} : { worker: writeId(holder.owner), deadlineMs: Number(holder.deadline) }),
    ...(name === undefined ? {} : { workerName: name }),
    ...(totals === undefined ? {} : { items: totals.items, failed: totals.failed + totals.unreadable }),
    attempts,
    ...(parent === undefined ? {} : { parent: writeId(parent) }),
    children: spawned.length,
    ...(parkReason === undefined ? {} : { parkReason }),
    acquired: Number(fenceEpoch) - 1,
  };
}
