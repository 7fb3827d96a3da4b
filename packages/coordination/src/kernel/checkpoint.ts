import { RunStatus, type Cursor, type LogicalTime } from "@gossip/contracts";
import { IdempotentOutcome } from "@gossip/coordination-errors";
import { ok, Redacted, type Result } from "@gossip/stdx";
import { checkpointHash } from "../hashing/payload-hash.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { FailureInput } from "../records/item-failure.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { admitLeasedOp, type LeasedCommand } from "./admit-leased-op.ts";
import type { LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { noteFailures } from "./note-failures.ts";
import { extendLease } from "./renew.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";
import { judgeCursorUpdate } from "./validate-cursor-update.ts";

export interface CheckpointCommand extends LeasedCommand {
  readonly cursor: Cursor;
  /** Also move the lease's deadline, in the same write. Not part of the payload. *Addition.* */
  readonly renew?: boolean | undefined;
  /** Items behind the cursor that failed. Recorded in the same write; not part of the payload. *Addition.* */
  readonly failures?: readonly FailureInput[] | undefined;
}

/** The record after a checkpoint, and the lease's new deadline if the checkpoint renewed it. */
export interface CheckpointOutcome {
  readonly shard: ShardRecord;
  readonly newDeadline: LogicalTime | undefined;
}

/**
 * Store how far a worker has come.
 *
 * Checks, in this order: the shard exists; a repeated operation; the lease; the cursor. Replaces both the key and the
 * token, so a cursor without a token erases the old one.
 *
 * A run that has ended still accepts checkpoints, so that finished work is kept. It renews no lease: the deadline
 * then stays where it is.
 */
export function checkpoint(
  loaded: LoadedShard,
  command: CheckpointCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<CheckpointOutcome>, UpdateShard>, Refusal<"checkpoint">> {
  assertInput(loaded, command, now);
  const { cursor } = command;
  const admitted = admitLeasedOp(loaded, command, { payloadHash: checkpointHash(cursor), now });
  if (!admitted.ok) return admitted;
  const { run, shard, at, op } = admitted.value;
  if (op === undefined) return ok(nothingToDo(IdempotentOutcome.replayed({ shard, newDeadline: undefined })));
  const moved = judgeCursorUpdate(shard, cursor);
  if (!moved.ok) return moved;

  const renews = command.renew === true && !RunStatus.isTerminal(run.status);
  const advanced = draftOf(shard);
  advanced.cursor = cursor;
  if (renews) advanced.lease = extendLease(shard, run, at);
  advanced.opLog = logOp(shard, op, { kind: "Checkpoint", at });
  advanced.lastTime = at;
  if (moved.value) advanced.attempts = 0;
  assertShardRecord(advanced, shard);
  const notes = noteFailures(command.failures, { at, shard: shard.shard, worker: command.lease.owner }, cursor.lastKey);
  const newDeadline = renews ? advanced.lease?.deadline : undefined;
  return ok({
    outcome: IdempotentOutcome.executed({ shard: advanced, newDeadline }),
    writes: { kind: "UpdateShard", shard: advanced, needsRun: renews, notes },
    events: eventsOf(advanced, newDeadline),
  });
}

function eventsOf(record: ShardRecord, newDeadline: LogicalTime | undefined): readonly CoordinationEvent[] {
  const { tenant, run, shard, lastTime: at } = record;
  const lastKey = record.cursor.lastKey!;
  const checkpointed: CoordinationEvent = {
    kind: "ShardCheckpointed",
    tenant,
    run,
    at,
    shard,
    lastKey: new Redacted(lastKey),
    lastKeySize: lastKey.length,
  };
  if (newDeadline === undefined) return [checkpointed];
  return [checkpointed, { kind: "ShardLeaseRenewed", tenant, run, at, shard, newDeadline }];
}
