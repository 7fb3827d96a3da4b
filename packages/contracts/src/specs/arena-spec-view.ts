import type { ShardSpecRef } from "./shard-spec-ref.ts";
import type { SpecSlots } from "./spec-slots.ts";

/**
 * A spec borrowed from a `ShardArena`.
 *
 * It is valid until the spec is freed or the arena cleared. Reading it after that
 * throws `InvariantViolation`, because the bytes may belong to another shard. Arrays
 * that were read from it before are not guarded: do not keep them, and use
 * `ShardSpec.tryFromRef` to copy.
 *
 * Each read of a field allocates an array, so read it once.
 */
export class ArenaSpecView implements ShardSpecRef {
  readonly #slots: SpecSlots;
  readonly #slot: number;
  readonly #generation: number;

  constructor(slots: SpecSlots, slot: number, generation: number) {
    this.#slots = slots;
    this.#slot = slot;
    this.#generation = generation;
  }

  // Shared code is in `SpecSlots`: a private method here would make every view a word larger.

  get keyRangeStart(): Uint8Array {
    return this.#slots.slab.get(this.#slots.liveFields(this.#slot, this.#generation).start);
  }

  get keyRangeEnd(): Uint8Array {
    return this.#slots.slab.get(this.#slots.liveFields(this.#slot, this.#generation).end);
  }

  get metadata(): Uint8Array {
    return this.#slots.slab.get(this.#slots.liveFields(this.#slot, this.#generation).metadata);
  }
}
