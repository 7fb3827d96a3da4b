import type { LogicalTime, OpId, ShardKey, TenantId, WorkerId } from "@gossip/contracts";
import type { AcquireError, InfraError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { decideAcquire, type AcquireCommand, type AcquireOutcome } from "../kernel/acquire.ts";
import type { Transition, UpdateShard } from "../kernel/transition.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { ShardRead } from "../store/store-reads.ts";
import type { ShardOperation, ShardSituation } from "./shard-operation.ts";

/**
 * An acquire as the engine carries it out.
 *
 * A class, and the kernel's command as well, as a checkpoint's operation is: a claim asks for hundreds at a time.
 */
export class AcquireOperation implements ShardOperation<AcquireOutcome, AcquireError>, AcquireCommand {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly worker: WorkerId;
  readonly opId: OpId;
  readonly readShard: (() => Eventually<Result<ShardRead, InfraError>>) | undefined;

  /** `readShard`: another way to read the shard. */
  constructor(
    { tenant, key, worker, opId }: AcquireCommand,
    readShard?: () => Eventually<Result<ShardRead, InfraError>>,
  ) {
    this.tenant = tenant;
    this.key = key;
    this.worker = worker;
    this.opId = opId;
    this.readShard = readShard;
  }

  get name(): "acquire" {
    return "acquire";
  }

  get wantsHint(): true {
    return true;
  }

  decide(loaded: ShardSituation, now: LogicalTime): Result<Transition<AcquireOutcome, UpdateShard>, AcquireError> {
    return decideAcquire(loaded, this, now);
  }
}
