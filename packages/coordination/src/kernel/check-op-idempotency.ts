import type { OpId } from "@gossip/contracts";
import { coordError, runOpIdConflict, type CoordError, type RunOpIdConflict } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { IDS } from "../records/id-table.ts";
import { findOp, type LoggedOp, type OpLog } from "../records/op-log.ts";
import type { OpLogEntry, ShardRecord } from "../records/shard-record.ts";

/** An operation as a log knows it. */
export interface RequestedOp {
  readonly opId: OpId;
  readonly payloadHash: PayloadHash;
}

/**
 * Look an operation up in a shard's log: its entry where it was done before,
 * `undefined` where it is new or long forgotten, a conflict where the id was used
 * for something else.
 *
 * This comes before the lease is looked at, so that a worker that crashed between
 * its commit and the answer can learn what became of it, whoever holds the shard now.
 */
export function checkOpIdempotency<Entry extends LoggedOp>(
  log: OpLog<Entry>,
  op: RequestedOp,
): Result<Entry | undefined, CoordError<"OpIdConflict">> {
  assert(op.payloadHash !== 0n, "payload hash must not be zero");
  return judge(findOp(log, op.opId), op);
}

/** The same where the log is known to be that of a record: it is found faster. */
export function checkShardOpIdempotency(
  { opLog, shard }: Pick<ShardRecord, "opLog" | "shard">,
  op: RequestedOp,
): Result<OpLogEntry | undefined, CoordError<"OpIdConflict">> {
  assert(op.payloadHash !== 0n, "payload hash must not be zero");
  const index = IDS.indexOf(opLog, op.opId, shard);
  return index < 0 ? ok(undefined) : judge(opLog[index]!, op);
}

function judge<Entry extends LoggedOp>(
  entry: Entry | undefined,
  { opId, payloadHash }: RequestedOp,
): Result<Entry | undefined, CoordError<"OpIdConflict">> {
  if (entry === undefined || entry.payloadHash === payloadHash) return ok(entry);
  return err(coordError("OpIdConflict", { opId, expectedHash: entry.payloadHash, actualHash: payloadHash }));
}

/** The same for a run's log, whose conflict shows nobody the hashes. */
export function checkRunOpIdempotency<Entry extends LoggedOp>(
  log: OpLog<Entry>,
  { opId, payloadHash }: RequestedOp,
): Result<Entry | undefined, RunOpIdConflict> {
  assert(payloadHash !== 0n, "payload hash must not be zero");
  const entry = findOp(log, opId);
  return entry === undefined || entry.payloadHash === payloadHash ? ok(entry) : err(runOpIdConflict(opId));
}
