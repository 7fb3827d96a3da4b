import { ShardSpec, type ShardSpecRef } from "@gossip/contracts";
import { assert, unwrap } from "@gossip/stdx";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/**
 * A shard spec borrowed from a `ShardSpecScratch`.
 *
 * It is valid until the scratch is written again. Reading it after that throws `InvariantViolation`, because the bytes
 * would be another shard's. Arrays that were read from it before are not guarded. Call `toOwned` to keep it, before the
 * next `await`.
 *
 * Each read of a field creates a view, so read it once.
 */
export class BorrowedShardSpec implements ShardSpecRef {
  readonly #scratch: ShardSpecScratch;
  readonly #generation: number;

  /** Borrow what the scratch holds now. */
  constructor(scratch: ShardSpecScratch) {
    this.#scratch = scratch;
    this.#generation = scratch.generation;
  }

  get keyRangeStart(): Uint8Array {
    return this.#live().start.asBytes();
  }

  get keyRangeEnd(): Uint8Array {
    return this.#live().end.asBytes();
  }

  get metadata(): Uint8Array {
    return this.#live().metadata.asBytes();
  }

  /** A copy that owns its bytes. */
  toOwned(): ShardSpec {
    return unwrap(ShardSpec.tryFromRef(this));
  }

  #live(): ShardSpecScratch {
    assert(this.#scratch.generation === this.#generation, "shard spec outlived its scratch, which was written again");
    return this.#scratch;
  }
}
