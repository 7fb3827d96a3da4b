import type { LogicalTime } from "@gossip/contracts";
import { IdempotentOutcome } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { completeHash, RANGE_EXHAUSTED, type CompletionPoint, type PayloadHash } from "../hashing/payload-hash.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { admitLeasedOp, type LeasedCommand } from "./admit-leased-op.ts";
import type { LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { nothingToDo, withEvents, type Refusal, type Transition, type UpdateShard } from "./transition.ts";
import { judgeCursorUpdate } from "./validate-cursor-update.ts";

export interface CompleteCommand extends LeasedCommand {
  /** Where the work ended. A cursor is stored; `RANGE_EXHAUSTED` leaves the one that is there. */
  readonly point: CompletionPoint;
}

/**
 * Say that a shard's work is finished.
 *
 * Checked as a checkpoint is. The cursor need not be near the end of the range:
 * "done" is the worker's word.
 */
export function complete(
  loaded: LoadedShard,
  command: CompleteCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"complete">> {
  return withEvents(decideComplete(loaded, command, now));
}

/** `complete`, whose events are made anew whenever they are asked for: nearly always nobody listens, and every shard is completed. */
export function decideComplete(
  loaded: LoadedShard,
  command: CompleteCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"complete">> {
  assertInput(loaded, command, now);
  const { point } = command;
  const admitted = admitLeasedOp(loaded, command, { payloadHash: hashOf(point), now });
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
  return ok(new Completed(done));
}

function hashOf(point: CompletionPoint): PayloadHash {
  return point === RANGE_EXHAUSTED ? (exhaustedHash ??= completeHash(point)) : completeHash(point);
}

// The same for every shard that is worked through to its end, so it is found once.
let exhaustedHash: PayloadHash | undefined;

/** A shard that is to be done. */
class Completed implements Transition<IdempotentOutcome<ShardRecord>, UpdateShard> {
  readonly outcome: IdempotentOutcome<ShardRecord>;
  readonly writes: UpdateShard;

  constructor(shard: ShardRecord) {
    this.outcome = IdempotentOutcome.executed(shard);
    this.writes = { kind: "UpdateShard", shard, needsRun: false };
  }

  get events(): readonly CoordinationEvent[] {
    const { tenant, run, shard, lastTime: at } = this.outcome.value;
    return [{ kind: "ShardCompleted", tenant, run, at, shard }];
  }
}
