import { SHARD_OP_LOG_CAP, type LogicalTime } from "@gossip/contracts";
import type { OpKind } from "../records/op-kind.ts";
import { appendOp, type OpLog } from "../records/op-log.ts";
import type { OpLogEntry, ShardRecord } from "../records/shard-record.ts";
import type { RequestedOp } from "./check-op-idempotency.ts";

/** Returns the shard's log with one more operation. */
export function logOp(
  record: ShardRecord,
  { opId, payloadHash }: RequestedOp,
  { kind, at }: { readonly kind: OpKind; readonly at: LogicalTime },
): OpLog<OpLogEntry> {
  return appendOp(record.opLog, { opId, kind, result: "Completed", payloadHash, executedAt: at }, SHARD_OP_LOG_CAP);
}
