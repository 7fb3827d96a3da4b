import type { LogicalTime } from "@gossip/contracts";
import { IdempotentOutcome } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { releaseHash } from "../hashing/payload-hash.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { admitLeasedOp, type LeasedCommand } from "./admit-leased-op.ts";
import type { LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";

/**
 * Ends a lease before its deadline. The shard stays active, keeps its cursor, and can be acquired at once. *Addition.*
 *
 * The fence does not move: a worker that still presents the old lease gets `StaleFence` with equal numbers.
 */
export function release(
  loaded: LoadedShard,
  command: LeasedCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"release">> {
  assertInput(loaded, command, now);
  const admitted = admitLeasedOp(loaded, command, { payloadHash: releaseHash(), now });
  if (!admitted.ok) return admitted;
  const { shard, at, op } = admitted.value;
  if (op === undefined) return ok(nothingToDo(IdempotentOutcome.replayed(shard)));

  const released = draftOf(shard);
  released.lease = undefined;
  released.opLog = logOp(shard, op, { kind: "Release", at });
  released.lastTime = at;
  assertShardRecord(released, shard);
  return ok({
    outcome: IdempotentOutcome.executed(released),
    writes: { kind: "UpdateShard", shard: released, needsRun: false, notes: undefined },
    events: [{ kind: "ShardReleased", tenant: shard.tenant, run: shard.run, at, shard: shard.shard }],
  });
}
