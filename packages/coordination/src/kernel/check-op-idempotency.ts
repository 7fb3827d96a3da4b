import type { OpId } from "@gossip/contracts";
import { coordError, runOpIdConflict, type CoordError, type RunOpIdConflict } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { findOp, type LoggedOp, type OpLog } from "../records/op-log.ts";

/** An operation as a log knows it. */
export interface RequestedOp {
  readonly opId: OpId;
  readonly payloadHash: PayloadHash;
}

/**
 * Look an operation up in a shard's log. Returns its entry if it was executed before, `undefined` if it is new or the
 * log has forgotten it, and a conflict if the op id was used for another payload.
 *
 * This check comes before the lease check. A worker that crashed between its commit and the answer can then learn the
 * outcome, whichever worker holds the shard by then.
 */
export function checkOpIdempotency<Entry extends LoggedOp>(
  log: OpLog<Entry>,
  { opId, payloadHash }: RequestedOp,
): Result<Entry | undefined, CoordError<"OpIdConflict">> {
  assert(payloadHash !== 0n, "payload hash must not be zero");
  const entry = findOp(log, opId);
  if (entry === undefined || entry.payloadHash === payloadHash) return ok(entry);
  return err(coordError("OpIdConflict", { opId, expectedHash: entry.payloadHash, actualHash: payloadHash }));
}

/** The same for a run's log. The conflict does not show the hashes. */
export function checkRunOpIdempotency<Entry extends LoggedOp>(
  log: OpLog<Entry>,
  { opId, payloadHash }: RequestedOp,
): Result<Entry | undefined, RunOpIdConflict> {
  assert(payloadHash !== 0n, "payload hash must not be zero");
  const entry = findOp(log, opId);
  return entry === undefined || entry.payloadHash === payloadHash ? ok(entry) : err(runOpIdConflict(opId));
}
