import type { LogicalTime, ShardKey } from "@gossip/contracts";
import type { SplitShard, UpdateShard } from "../kernel/transition.ts";
import type { StoreVersion, ShardRead } from "../store/store-reads.ts";
import type { ShardLimits, SplitShardSet, UpdateShardSet } from "../store/write-set.ts";

/**
 * A shard as its holder last saw it, to start the next operation from without reading.
 *
 * The holder of a lease is nearly always the only one who writes, so what it wrote last is
 * what is there. Where it is not, the guard of the next write says so.
 */
export class ShardCopy {
  /** `undefined` where it must be read. */
  read: ShardRead | undefined;

  constructor(read: ShardRead | undefined) {
    this.read = read;
  }
}

/** A decision about a shard, and what it was based on. */
export interface ShardDecision {
  readonly read: ShardRead;
  readonly writes: UpdateShard | SplitShard;
  readonly hintAt: LogicalTime | undefined;
  readonly limits: ShardLimits;
}

/** The write set of a decision, guarded by what it rests on. */
export function toWriteSet(
  key: ShardKey,
  { read, writes, hintAt, limits }: ShardDecision,
): UpdateShardSet | SplitShardSet {
  // Whatever the kernel decided to write, it had both of them to decide on.
  const runVersion = read.run!.version;
  const { record, version } = read.shard!;
  const { tenant } = record;
  const shard = { guard: version, before: record, after: writes.shard };
  if (writes.kind === "UpdateShard") {
    return {
      kind: "UpdateShard",
      tenant,
      run: key.run,
      shard,
      runGuard: writes.needsRun ? runVersion : undefined,
      hintAt,
    };
  }
  return { kind: "SplitShard", tenant, run: key.run, shard, runGuard: runVersion, created: writes.created, limits };
}

/** What will be read once a write set has been made. */
export function readAfter(
  read: ShardRead,
  { shard }: UpdateShardSet | SplitShardSet,
  version: StoreVersion,
): ShardRead {
  return { run: read.run, shard: { record: shard.after, version } };
}
