import type { LogicalTime } from "@gossip/contracts";
import { IdempotentOutcome } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { completeHash, RANGE_EXHAUSTED, type CompletionPoint } from "../hashing/payload-hash.ts";
import type { FailureInput } from "../records/item-failure.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { admitLeasedOp, type LeasedCommand } from "./admit-leased-op.ts";
import type { LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { noteFailures } from "./note-failures.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";
import { judgeCursorUpdate } from "./validate-cursor-update.ts";

export interface CompleteCommand extends LeasedCommand {
  /** The final position. A cursor is stored; `RANGE_EXHAUSTED` keeps the stored one. */
  readonly point: CompletionPoint;
  /** Items that failed since the last checkpoint. Recorded in the same write; not part of the payload. *Addition.* */
  readonly failures?: readonly FailureInput[] | undefined;
}

/**
 * Mark a shard as done.
 *
 * Checked like a checkpoint. The cursor need not be near the end of the range: the worker decides when it is done.
 */
export function complete(
  loaded: LoadedShard,
  command: CompleteCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"complete">> {
  assertInput(loaded, command, now);
  const { point } = command;
  const admitted = admitLeasedOp(loaded, command, { payloadHash: completeHash(point), now });
  if (!admitted.ok) return admitted;
  const { shard, at, op } = admitted.value;
  if (op === undefined) return ok(nothingToDo(IdempotentOutcome.replayed(shard)));
  const moved = point === RANGE_EXHAUSTED ? undefined : judgeCursorUpdate(shard, point);
  if (moved?.ok === false) return moved;

  const done = draftOf(shard);
  done.status = "Done";
  done.lease = undefined;
  done.opLog = logOp(shard, op, { kind: "Complete", at });
  done.lastTime = at;
  if (point !== RANGE_EXHAUSTED) {
    done.cursor = point;
    if (moved?.value === true) done.attempts = 0;
  }
  assertShardRecord(done, shard);
  const notes = noteFailures(command.failures, { at, shard: shard.shard, worker: command.lease.owner });
  return ok({
    outcome: IdempotentOutcome.executed(done),
    writes: { kind: "UpdateShard", shard: done, needsRun: false, notes },
    events: [{ kind: "ShardCompleted", tenant: shard.tenant, run: shard.run, at, shard: shard.shard }],
  });
}
