import { ShardSpec, validateShardSpec, type ShardSpecInputError, type ShardSpecRef } from "@gossip/contracts";
import { assert, err, ok, unwrap, type Result } from "@gossip/stdx";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/**
 * A shard spec borrowed from a `ShardSpecScratch`.
 *
 * It is good until the scratch is written again; reading it after that throws
 * `InvariantViolation`, because the bytes would be another shard's, and an empty
 * bound would mean that there is none. An array that was read from it before is not
 * guarded. Call `toOwned` to keep it, and do so before the next `await`.
 *
 * Reading a field makes a view each time: read once.
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

/**
 * Check a spec and lend a copy of it from `scratch`.
 *
 * The parts may be views of the scratch, each of its own buffer. They are checked
 * before they are copied: what is too large for a spec may be too large for a buffer.
 */
export function lend(spec: ShardSpecRef, scratch: ShardSpecScratch): Result<BorrowedShardSpec, ShardSpecInputError> {
  const checked = validateShardSpec(spec);
  if (!checked.ok) return err(checked.error);
  scratch.start.copyFromSlice(spec.keyRangeStart);
  scratch.end.copyFromSlice(spec.keyRangeEnd);
  scratch.metadata.copyFromSlice(spec.metadata);
  return ok(new BorrowedShardSpec(scratch));
}

/** Lend the bounds that the scratch holds, with the metadata given, if they make a spec. */
export function lendBounds(scratch: ShardSpecScratch, metadata: Uint8Array): Result<BorrowedShardSpec, ShardSpecInputError> {
  return lend({ keyRangeStart: scratch.start.asBytes(), keyRangeEnd: scratch.end.asBytes(), metadata }, scratch);
}
