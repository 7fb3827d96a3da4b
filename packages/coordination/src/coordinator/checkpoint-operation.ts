import { type Cursor, type LogicalTime, type OpId, type ShardKey, type TenantId } from "@gossip/contracts";
import type { CheckpointError, IdempotentOutcome } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { decideCheckpoint, type CheckpointCommand, type CheckpointOutcome } from "../kernel/checkpoint.ts";
import type { Transition, UpdateShard } from "../kernel/transition.ts";
import type { Lease } from "../records/lease.ts";
import type { ShardOperation, ShardSituation } from "./shard-operation.ts";
import { refuseForRoom, type WriteRefusal } from "./write-refusals.ts";

/** What is asked for; it does not renew where that is left out. */
interface CheckpointOrder extends Omit<CheckpointCommand, "renew"> {
  readonly renew?: boolean;
}

/**
 * A checkpoint as the engine carries it out.
 *
 * A class, and the kernel's command as well: it is the operation of which there are many, and this is all that is made to ask for one.
 */
export class CheckpointOperation
  implements ShardOperation<IdempotentOutcome<CheckpointOutcome>, CheckpointError>, CheckpointCommand
{
  readonly tenant: TenantId;
  readonly lease: Lease;
  readonly opId: OpId;
  readonly cursor: Cursor;
  readonly renew: boolean;

  constructor({ tenant, lease, opId, cursor, renew = false }: CheckpointOrder) {
    assertObject(lease, "lease");
    this.tenant = tenant;
    this.lease = lease;
    this.opId = opId;
    this.cursor = cursor;
    this.renew = renew;
  }

  get name(): "checkpoint" {
    return "checkpoint";
  }

  get key(): ShardKey {
    // A lease names its shard, and no name is made of it that nearly no checkpoint needs.
    return this.lease;
  }

  get wantsHint(): true {
    return true;
  }

  decide(
    loaded: ShardSituation,
    now: LogicalTime,
  ): Result<Transition<IdempotentOutcome<CheckpointOutcome>, UpdateShard>, CheckpointError> {
    return decideCheckpoint(loaded, this, now);
  }

  refuse(refusal: WriteRefusal): CheckpointError {
    return refuseCheckpoint(refusal);
  }
}

const refuseCheckpoint = /* @__PURE__ */ refuseForRoom("checkpoint");
