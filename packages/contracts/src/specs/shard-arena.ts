import {
  assert,
  assertCount,
  ByteSlab,
  ByteSlot,
  err,
  MAX_SLAB_CAPACITY,
  ok,
  type Result,
  type SlabFull,
} from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_ARENA_SLOTS } from "../limits.ts";
import { assertFields, checkFields, type ShardSpecRef } from "./shard-spec-ref.ts";

/** No arena has the id zero. */
let lastArenaId = 0;

/** A request that no slab can serve: its error contains the size that the slab could serve. */
const ANYTHING = Number.MAX_SAFE_INTEGER;

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

/** Where the arena keeps one spec at a time. It is used again and again, so that storing a spec allocates nothing. */
class SpecSlot {
  isLive = false;
  /** How often the slot was freed or cleared. It never wraps, so a handle never becomes valid again. */
  generation: number;
  readonly start = new ByteSlot();
  readonly end = new ByteSlot();
  readonly metadata = new ByteSlot();

  constructor(generation: number) {
    this.generation = generation;
  }
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
  /** The id that handles of this arena carry. */
  readonly id: number = ++lastArenaId;
  /** How many specs there is room for. */
  readonly specSlots: number;
  readonly #slab: ByteSlab;
  /** Made when they are first used. */
  readonly #slots: SpecSlot[] = [];
  /** Freed slots, the last one on top. */
  readonly #freed: number[] = [];
  /** Slots from here on are unused since the arena was created or cleared. */
  #freshSlot = 0;
  #clearCount = 0;

  private constructor(specSlots: number, byteCapacity: number) {
    this.specSlots = specSlots;
    this.#slab = new ByteSlab(byteCapacity);
  }

  /** Room for `specSlots` specs whose bounds and metadata take up to `byteCapacity` bytes of slab. */
  static withCapacity(capacity: { readonly specSlots: number; readonly byteCapacity: number }): ShardArena {
    assertObject(capacity, "arena capacity");
    assertCount(capacity.specSlots, "spec slots", { min: 0, max: MAX_ARENA_SLOTS });
    assertCount(capacity.byteCapacity, "byte capacity", { min: 0, max: MAX_SLAB_CAPACITY });
    return new ShardArena(capacity.specSlots, capacity.byteCapacity);
  }

  get liveSpecCount(): number {
    return this.#freshSlot - this.#freed.length;
  }

  get byteCapacity(): number {
    return this.#slab.capacity;
  }

  /** Bytes of slab that live specs take, rounding included. */
  get liveBytes(): number {
    return this.#slab.liveBytes;
  }

  /** The largest field of a spec that there is room for now, rounded down to a power of two: `SlabFull.available`. */
  get largestFreeSize(): number {
    return this.#slab.refusalFor(ANYTHING)!.available;
  }

  /**
   * Copy a spec into the arena.
   *
   * Returns `SlabFull{requested: 1, available: 0}` if no slot is free; without room for one of the fields, the slab's
   * own. Nothing has changed then. A spec that `validateShardSpec` refuses is an `InvariantViolation`: validate first.
   */
  allocSpec(spec: ShardSpecRef): Result<ShardSpecHandle, SlabFull> {
    const slot = this.#nextSlot;
    const refusal = this.#store(spec);
    return refusal === undefined ? ok(this.#handleOf(slot)) : err(refusal);
  }

  /** Like `allocSpec`, but returns `undefined` if there is no room. `allocSpec` then returns the reason. */
  tryAllocSpec(spec: ShardSpecRef): ShardSpecHandle | undefined {
    const slot = this.#nextSlot;
    return this.#store(spec) === undefined ? this.#handleOf(slot) : undefined;
  }

  /** The spec, borrowed, or `undefined` if the handle is stale or foreign. */
  tryViewSpec(handle: ShardSpecHandle): ShardSpecRef | undefined {
    const slot = this.#liveSlot(handle);
    return slot && new ArenaSpecView(this.#slab, slot);
  }

  /** Like `tryViewSpec`, but throws for a stale or foreign handle. */
  viewSpec(handle: ShardSpecHandle): ShardSpecRef {
    const view = this.tryViewSpec(handle);
    assert(view !== undefined, "shard spec handle is stale, freed or of another arena");
    return view;
  }

  /** Frees a spec and its bytes. Ignores a stale or foreign handle. */
  freeSpec(handle: ShardSpecHandle): void {
    const slot = this.#liveSlot(handle);
    if (slot === undefined) return;
    this.#slab.deallocate(slot.metadata);
    this.#slab.deallocate(slot.end);
    this.#slab.deallocate(slot.start);
    slot.isLive = false;
    slot.generation += 1;
    this.#freed.push(handle.slot);
  }

  /** Frees everything. All earlier handles and views become stale, and slot 0 is the next to use. */
  clear(): void {
    this.#slab.clear();
    for (const slot of this.#slots) {
      slot.isLive = false;
      slot.generation += 1;
    }
    this.#clearCount += 1;
    this.#freed.length = 0;
    this.#freshSlot = 0;
  }

  /** Clears the arena. */
  [Symbol.dispose](): void {
    this.clear();
  }

  /** The slot for the next spec: the one freed last, or else the lowest unused one. */
  get #nextSlot(): number {
    return this.#freed.at(-1) ?? this.#freshSlot;
  }

  #handleOf(slot: number): ShardSpecHandle {
    return { slot, generation: this.#slots[slot]!.generation, arenaId: this.id };
  }

  /** Copies a spec into the next slot, or changes nothing and returns the reason. */
  #store(spec: ShardSpecRef): SlabFull | undefined {
    assertObject(spec, "shard spec");
    const { keyRangeStart: start, keyRangeEnd: end, metadata } = spec;
    assertFields(start, end, metadata);
    const isValid = checkFields(start, end, metadata).ok;
    assert(isValid, "shard spec must be valid before it is allocated: see validateShardSpec");
    if (this.liveSpecCount === this.specSlots) return { kind: "SlabFull", requested: 1, available: 0 };

    const slot = (this.#slots[this.#nextSlot] ??= new SpecSlot(this.#clearCount));
    if (!this.#slab.allocateInto(start, slot.start)) return this.#undo(start.length, []);
    if (!this.#slab.allocateInto(end, slot.end)) return this.#undo(end.length, [slot.start]);
    if (!this.#slab.allocateInto(metadata, slot.metadata)) return this.#undo(metadata.length, [slot.end, slot.start]);

    if (this.#freed.pop() === undefined) this.#freshSlot += 1;
    slot.isLive = true;
    return undefined;
  }

  /** Frees the stored part of a spec. Returns the size that was refused and the size that the slab could serve now. */
  #undo(refusedSize: number, stored: readonly ByteSlot[]): SlabFull {
    const { requested } = this.#slab.refusalFor(refusedSize)!;
    for (const slot of stored) this.#slab.deallocate(slot);
    return { kind: "SlabFull", requested, available: this.largestFreeSize };
  }

  #liveSlot(handle: ShardSpecHandle): SpecSlot | undefined {
    assertObject(handle, "shard spec handle");
    // The slot is used as an index, so it must be a number: text could name a property.
    if (typeof handle.slot !== "number" || handle.arenaId !== this.id) return undefined;
    const slot = this.#slots[handle.slot];
    return slot?.isLive === true && slot.generation === handle.generation ? slot : undefined;
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
class ArenaSpecView implements ShardSpecRef {
  readonly #slab: ByteSlab;
  readonly #slot: SpecSlot;
  readonly #generation: number;

  constructor(slab: ByteSlab, slot: SpecSlot) {
    this.#slab = slab;
    this.#slot = slot;
    this.#generation = slot.generation;
  }

  get keyRangeStart(): Uint8Array {
    return this.#slab.get(liveSince(this.#slot, this.#generation).start);
  }

  get keyRangeEnd(): Uint8Array {
    return this.#slab.get(liveSince(this.#slot, this.#generation).end);
  }

  get metadata(): Uint8Array {
    return this.#slab.get(liveSince(this.#slot, this.#generation).metadata);
  }
}

// Not a private method, which would make every view a word larger.
function liveSince(slot: SpecSlot, generation: number): SpecSlot {
  assert(slot.generation === generation, "shard spec view outlived its spec: it was freed, or the arena cleared");
  return slot;
}
