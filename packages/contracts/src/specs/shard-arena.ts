import { assert, assertCount, err, MAX_SLAB_CAPACITY, ok, type Result, type SlabFull } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_ARENA_SLOTS } from "../limits.ts";
import { assertFields, checkFields, type ShardSpecRef } from "./shard-spec-ref.ts";
import { SpecSlots } from "./spec-slots.ts";

/** No arena has the id zero. */
let lastArenaId = 0;

/**
 * Identifies a spec in a `ShardArena`. It is a value and may be copied.
 *
 * The generation distinguishes the specs that used the slot at different times, and the arena's id distinguishes
 * arenas, so stale and foreign handles are always detected.
 */
export interface ShardSpecHandle {
  readonly slot: number;
  readonly generation: number;
  readonly arenaId: number;
}

/**
 * Shard specs in memory that is allocated once.
 *
 * Specs are copied in. A slot that was freed is the first to be used again, under the next generation. A handle that is
 * stale, freed or of another arena is always detected: `tryViewSpec` returns `undefined`, `viewSpec` throws, `freeSpec`
 * does nothing.
 *
 * `tryAllocSpec` allocates the handle and `viewSpec` the view, one small object each. Freeing allocates nothing. The
 * first use of a slot allocates a few more.
 */
export class ShardArena {
  readonly #id = ++lastArenaId;
  readonly #slots: SpecSlots;

  private constructor(slots: SpecSlots) {
    this.#slots = slots;
  }

  /** Room for `specSlots` specs whose bounds and metadata take up to `byteCapacity` bytes of slab. */
  static withCapacity(capacity: { readonly specSlots: number; readonly byteCapacity: number }): ShardArena {
    assertObject(capacity, "arena capacity");
    assertCount(capacity.specSlots, "spec slots", { min: 0, max: MAX_ARENA_SLOTS });
    assertCount(capacity.byteCapacity, "byte capacity", { min: 0, max: MAX_SLAB_CAPACITY });
    return new ShardArena(new SpecSlots(capacity));
  }

  /** The id that handles of this arena carry. */
  get id(): number {
    return this.#id;
  }

  get specSlots(): number {
    return this.#slots.slotCount;
  }

  get liveSpecCount(): number {
    return this.#slots.liveCount;
  }

  get byteCapacity(): number {
    return this.#slots.slab.capacity;
  }

  /** Bytes of slab that live specs take, rounding included. */
  get liveBytes(): number {
    return this.#slots.slab.liveBytes;
  }

  /**
   * Copy a spec into the arena.
   *
   * Returns `SlabFull{requested: 1, available: 0}` if no slot is free; without room for one of the fields, the slab's
   * own. Nothing has changed then. A spec that `validateShardSpec` refuses is an `InvariantViolation`: validate first.
   */
  allocSpec(spec: ShardSpecRef): Result<ShardSpecHandle, SlabFull> {
    const slot = this.#slots.nextSlot;
    const refusal = this.#store(spec);
    return refusal === undefined ? ok(this.#handleOf(slot)) : err(refusal);
  }

  /** Like `allocSpec`, but returns `undefined` if there is no room. `allocSpec` then returns the reason. */
  tryAllocSpec(spec: ShardSpecRef): ShardSpecHandle | undefined {
    const slot = this.#slots.nextSlot;
    return this.#store(spec) === undefined ? this.#handleOf(slot) : undefined;
  }

  /** The spec, borrowed, or `undefined` if the handle is stale or foreign. */
  tryViewSpec(handle: ShardSpecHandle): ShardSpecRef | undefined {
    if (!this.#holds(handle)) return undefined;
    return new ArenaSpecView(this.#slots, handle.slot, handle.generation);
  }

  /** Like `tryViewSpec`, but throws for a stale or foreign handle. */
  viewSpec(handle: ShardSpecHandle): ShardSpecRef {
    const view = this.tryViewSpec(handle);
    assert(view !== undefined, "shard spec handle is stale, freed or of another arena");
    return view;
  }

  /** Frees a spec and its bytes. Ignores a stale or foreign handle. */
  freeSpec(handle: ShardSpecHandle): void {
    if (this.#holds(handle)) this.#slots.release(handle.slot);
  }

  /** Frees everything. All earlier handles and views become stale. */
  clear(): void {
    this.#slots.clear();
  }

  /** Clears the arena. */
  [Symbol.dispose](): void {
    this.clear();
  }

  /** Copies a spec into the next slot, or changes nothing and returns the reason. */
  #store(spec: ShardSpecRef): SlabFull | undefined {
    assertObject(spec, "shard spec");
    const { keyRangeStart: start, keyRangeEnd: end, metadata } = spec;
    assertFields(start, end, metadata);
    assert(
      checkFields(start, end, metadata).ok,
      "shard spec must be valid before it is allocated: see validateShardSpec",
    );
    const slots = this.#slots;
    if (slots.liveCount === slots.slotCount) return { kind: "SlabFull", requested: 1, available: 0 };
    return slots.store(start, end, metadata);
  }

  #handleOf(slot: number): ShardSpecHandle {
    return { slot, generation: this.#slots.generationOf(slot), arenaId: this.#id };
  }

  #holds(handle: ShardSpecHandle): boolean {
    assertObject(handle, "shard spec handle");
    // Only the slot is used as an index, so it must be a number: text could name a property.
    if (typeof handle.slot !== "number" || handle.arenaId !== this.#id) return false;
    return this.#slots.isLive(handle.slot, handle.generation);
  }
}

/**
 * A spec borrowed from a `ShardArena`.
 *
 * It is valid until the spec is freed or the arena cleared. Reading it after that throws `InvariantViolation`, because
 * the bytes may belong to another shard. Arrays that were read from it before are not guarded: do not keep them, and
 * use `ShardSpec.tryFromRef` to copy.
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
