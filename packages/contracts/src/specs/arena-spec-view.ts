import type { ShardSpecRef } from "./shard-spec-ref.ts";
import type { SpecSlots } from "./spec-slots.ts";

/**
 * A spec borrowed from a `ShardArena`.
 *
 * It is good until the spec is freed or the arena cleared; reading it after that
 * throws `InvariantViolation`, because the bytes may be another shard's. An array
 * that was read from it before is not guarded: keep neither, and copy with
 * `ShardSpec.tryFromRef` what must stay.
 *
 * Reading a field makes an array of it each time: read once.
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

  // What the three have in common is in `SpecSlots`: a private method here would make every view a word larger.

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
