import type { LogicalTime, ShardKey, TenantId } from "@gossip/contracts";
import type { SplitShard, UpdateShard } from "../kernel/transition.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { StoreAnswer } from "../store/coordination-store.ts";
import type { ShardRead, StoreVersion } from "../store/store-reads.ts";
import type { ShardWrite, SplitShardSet, UpdateShardSet } from "../store/write-set.ts";
import type { Engine } from "./engine.ts";
import type { Copy, Target } from "./operation.ts";
import type { RecordAddress } from "./unresolved-writes.ts";

/** A shard with its run, and the other shard that a repeated residual split is compared with. */
export interface ShardSituation extends ShardRead {
  readonly other?: ShardRecord | undefined;
}

/** A shard as its lease holder last saw it. */
export type ShardCopy = Copy<ShardSituation>;

export interface ShardTargetOptions {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  /** Whether the result includes the run's capacity. */
  readonly wantsHint?: boolean;
  /** Another way to read the shard. */
  readonly readShard?: (() => StoreAnswer<ShardRead>) | undefined;
}

/** A shard as the target of an operation. */
export class ShardTarget implements Target<ShardSituation, UpdateShard | SplitShard> {
  readonly #engine: Engine;
  readonly #options: ShardTargetOptions;

  constructor(engine: Engine, options: ShardTargetOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  read(): StoreAnswer<ShardRead> {
    const { tenant, key, readShard } = this.#options;
    return readShard === undefined ? this.#engine.store.readShard(tenant, key) : readShard();
  }

  toWriteSet(read: ShardRead, writes: UpdateShard | SplitShard, now: LogicalTime): UpdateShardSet | SplitShardSet {
    // The kernel decides to write only if it had both the run and the shard.
    const runVersion = read.run!.version;
    const shard = toShardWrite(read, writes);
    const { tenant } = shard.before;
    const { run } = this.#options.key;
    if (writes.kind === "SplitShard") {
      const { created } = writes;
      return { kind: "SplitShard", tenant, run, shard, runGuard: runVersion, created, limits: this.#engine.limits };
    }
    const runGuard = writes.needsRun ? runVersion : undefined;
    const hintAt = this.#options.wantsHint ? now : undefined;
    return { kind: "UpdateShard", tenant, run, shard, runGuard, hintAt, notes: writes.notes };
  }

  after(read: ShardRead, writes: UpdateShard | SplitShard, version: StoreVersion): ShardRead {
    return { run: read.run, shard: { record: writes.shard, version } };
  }

  async readHint(now: LogicalTime): Promise<CapacityHint | undefined> {
    const { wantsHint, tenant, key } = this.#options;
    if (!wantsHint) return undefined;
    const hint = await this.#engine.store.readHint({ tenant, run: key.run, now });
    // Advice only: the operation succeeds without it.
    return hint.ok ? hint.value : CapacityHint.ZERO;
  }

  get lostCount(): number {
    return this.#engine.unresolvedShards.addedCount;
  }

  settleLost({ shard }: ShardRead, lostBefore: number): readonly CoordinationEvent[] {
    return this.#engine.unresolvedShards.settle(this.#address, shard, { addedCount: lostBefore });
  }

  rememberLost(read: ShardRead, writes: UpdateShard | SplitShard, events: readonly CoordinationEvent[]): void {
    this.#engine.unresolvedShards.add(this.#address, { write: toShardWrite(read, writes), events });
  }

  forgetLost({ shard }: ShardRead): void {
    this.#engine.unresolvedShards.forget(this.#address, shard?.version);
  }

  get #address(): RecordAddress {
    const { tenant, key } = this.#options;
    return { tenant, run: key.run, shard: key.shard };
  }
}

function toShardWrite({ shard }: ShardRead, writes: UpdateShard | SplitShard): ShardWrite {
  const { record, version } = shard!;
  return { guard: version, before: record, after: writes.shard };
}
