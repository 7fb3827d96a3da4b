import type { LogicalTime, ShardKey, TenantId } from "@gossip/contracts";
import type { InfraError, Operation } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { LoadedShard } from "../kernel/find-shard.ts";
import type { SplitShard, Transition, UpdateShard } from "../kernel/transition.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { ShardRead } from "../store/store-reads.ts";
import type { WriteRefusal } from "./write-refusals.ts";

/** What a decision about a shard rests on. */
export interface ShardSituation extends LoadedShard {
  /** The other shard that the operation needs, where it needs one. */
  readonly other: ShardRecord | undefined;
}

/** An operation on one shard: what the kernel decides, and what its caller hears where a store has no room. */
export interface ShardOperation<Outcome, Failure> {
  readonly name: Operation;
  readonly tenant: TenantId;
  /** May be more than a key, such as a lease: stores are given no more than the key of it. */
  readonly key: ShardKey;
  readonly decide: (
    loaded: ShardSituation,
    now: LogicalTime,
  ) => Result<Transition<Outcome, UpdateShard | SplitShard>, Failure>;
  /** Whether the answer tells how much of the run is left to claim. */
  readonly wantsHint: boolean;
  /** Another shard of the run that the decision needs, where it needs one. */
  readonly needs?: (shard: ShardRecord) => ShardKey | undefined;
  readonly refuse?: (refusal: WriteRefusal) => Failure;
  /** Another way to read the shard. */
  readonly readShard?: (() => Eventually<Result<ShardRead, InfraError>>) | undefined;
}

/** What became of an operation. */
export interface Settled<Outcome> {
  readonly outcome: Outcome;
  /** `undefined` where nobody asked. */
  readonly hint: CapacityHint | undefined;
  /** The shard and its run as they are now: what the next operation may start from. */
  readonly read: ShardRead;
}
