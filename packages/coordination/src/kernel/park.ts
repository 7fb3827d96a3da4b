import type { LogicalTime, ParkReason } from "@gossip/contracts";
import { IdempotentOutcome } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { parkHash } from "../hashing/payload-hash.ts";
import { noteOfParked, type ParkDetailInput } from "../records/parked-detail.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { admitLeasedOp, type LeasedCommand } from "./admit-leased-op.ts";
import type { LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";

export interface ParkCommand extends LeasedCommand {
  readonly reason: ParkReason;
  /** What went wrong. Stored in the same write; not part of the payload. *Addition.* */
  readonly detail?: ParkDetailInput | undefined;
}

/** Set a shard aside for a reason. Its cursor stays; only `unpark` brings it back. */
export function park(
  loaded: LoadedShard,
  command: ParkCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"park">> {
  assertInput(loaded, command, now);
  const { reason } = command;
  const admitted = admitLeasedOp(loaded, command, { payloadHash: parkHash(reason), now });
  if (!admitted.ok) return admitted;
  const { shard, at, op } = admitted.value;
  if (op === undefined) return ok(nothingToDo(IdempotentOutcome.replayed(shard)));

  const parked = draftOf(shard);
  parked.status = "Parked";
  parked.parkReason = reason;
  parked.lease = undefined;
  parked.opLog = logOp(shard, op, { kind: "Park", at });
  parked.lastTime = at;
  assertShardRecord(parked, shard);
  const { detail, lease } = command;
  const notes = detail && [noteOfParked(detail, { at, shard: shard.shard, worker: lease.owner })];
  return ok({
    outcome: IdempotentOutcome.executed(parked),
    writes: { kind: "UpdateShard", shard: parked, needsRun: false, notes },
    events: [{ kind: "ShardParked", tenant: shard.tenant, run: shard.run, at, shard: shard.shard, reason }],
  });
}
