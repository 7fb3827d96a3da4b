import { OpId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { Engine } from "../coordinator/engine.ts";
import type { Settled } from "../coordinator/shard-operation.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/** What every logged call of a session may be given. */
export interface SessionOptions {
  /** Give the same one again to repeat the call; a fresh one is drawn where it is left out. */
  readonly opId?: OpId;
}

/** What a session knows of the shard that it holds, as of the last call that succeeded. */
export class Hold {
  readonly #engine: Engine;
  #lease: Lease;
  #capacity: CapacityHint;
  #shard: ShardRecord;

  constructor(engine: Engine, { lease, capacity, shard }: Pick<Hold, "lease" | "capacity" | "shard">) {
    this.#engine = engine;
    this.#lease = lease;
    this.#capacity = capacity;
    this.#shard = shard;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** What the last answer told of the rest of the run. */
  get capacity(): CapacityHint {
    return this.#capacity;
  }

  /** Kept also when the session's copy is no longer good enough to start from. */
  get shard(): ShardRecord {
    return this.#shard;
  }

  /** The op id of a call: the caller's, or a fresh one. */
  opIdOf(options: SessionOptions): OpId {
    const { opId } = optionsOf(options);
    return opId === undefined ? this.#engine.newOpId() : OpId.fromRaw(opId);
  }

  /** Take note of what came of a call that succeeded. */
  keep({ read, hint }: Settled<unknown>): void {
    if (read.shard !== undefined) {
      this.#shard = read.shard.record;
      this.#followDeadline(read.shard.record);
    }
    if (hint !== undefined) this.#capacity = hint;
  }

  extend(deadline: Lease["deadline"]): void {
    this.#lease = Lease.withDeadline(this.#lease, deadline);
  }

  /** The record's deadline is the one that counts: a renewal whose answer was lost has moved it all the same. */
  #followDeadline({ fenceEpoch, lease }: ShardRecord): void {
    const isOurs = fenceEpoch === this.#lease.fence && lease?.owner === this.#lease.owner;
    if (isOurs && lease.deadline > this.#lease.deadline) this.extend(lease.deadline);
  }
}

/** The options, unless a caller without a compiler passed something else. */
export function optionsOf<Options extends SessionOptions>(options: Options): Options {
  assert(typeof options === "object" && options !== null, () => `options must be an object, got ${options === null ? "null" : typeof options}`);
  return options;
}
