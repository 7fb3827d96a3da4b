import { type LogicalTime, type OpId, type ShardKey, type TenantId } from "@gossip/contracts";
import type { CompleteError, IdempotentOutcome } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import { decideComplete, type CompleteCommand } from "../kernel/complete.ts";
import type { Transition, UpdateShard } from "../kernel/transition.ts";
import type { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardOperation, ShardSituation } from "./shard-operation.ts";
import { refuseForRoom, type WriteRefusal } from "./write-refusals.ts";

/** A completion as the engine carries it out. A class, and the kernel's command as well, as a checkpoint's operation is: every shard comes to it. */
export class CompleteOperation
  implements ShardOperation<IdempotentOutcome<ShardRecord>, CompleteError>, CompleteCommand
{
  readonly tenant: TenantId;
  readonly lease: Lease;
  readonly opId: OpId;
  readonly point: CompletionPoint;

  constructor({ tenant, lease, opId, point }: CompleteCommand) {
    assertObject(lease, "lease");
    this.tenant = tenant;
    this.lease = lease;
    this.opId = opId;
    this.point = point;
  }

  get name(): "complete" {
    return "complete";
  }

  get key(): ShardKey {
    return this.lease;
  }

  get wantsHint(): false {
    return false;
  }

  decide(
    loaded: ShardSituation,
    now: LogicalTime,
  ): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, CompleteError> {
    return decideComplete(loaded, this, now);
  }

  refuse(refusal: WriteRefusal): CompleteError {
    return refuseComplete(refusal);
  }
}

const refuseComplete = /* @__PURE__ */ refuseForRoom("complete");
