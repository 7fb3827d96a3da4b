import { assert, ByteSlab, ByteSlot, type SlabFull } from "@gossip/stdx";

/** The slab slots of the fields of one spec. */
interface SpecFields {
  readonly start: ByteSlot;
  readonly end: ByteSlot;
  readonly metadata: ByteSlot;
}

/** A request that no slab can serve: its error contains the size that the slab could serve. */
const ANYTHING = Number.MAX_SAFE_INTEGER;

/**
 * The slots of a `ShardArena`: their bytes, and which generation of each is live.
 *
 * Separate from the arena because views use it too: a view must detect by itself that its spec is gone.
 */
export class SpecSlots {
  readonly slab: ByteSlab;
  readonly #isLive: Uint8Array;
  // A plain array, whose small integers need no box in the objects that hold them. It counts beyond 31 bits and never
  // wraps, so a handle never becomes valid again.
  readonly #generations: number[];
  // Freed slots, the last one on top.
  readonly #returned: Uint32Array;
  #returnedCount = 0;
  // Slots from here on are unused since the arena was created or cleared.
  #freshSlot = 0;
  // Created on first use of a slot and kept, so that storing a spec allocates nothing.
  readonly #fields: SpecFields[] = [];

  constructor(capacity: { readonly specSlots: number; readonly byteCapacity: number }) {
    this.slab = new ByteSlab(capacity.byteCapacity);
    this.#isLive = new Uint8Array(capacity.specSlots);
    this.#generations = Array.from({ length: capacity.specSlots }, () => 0);
    this.#returned = new Uint32Array(capacity.specSlots);
  }

  get slotCount(): number {
    return this.#isLive.length;
  }

  get liveCount(): number {
    return this.#freshSlot - this.#returnedCount;
  }

  /** The slot for the next spec: the one freed last, or else the lowest unused one. */
  get nextSlot(): number {
    return this.#returnedCount > 0 ? this.#returned[this.#returnedCount - 1]! : this.#freshSlot;
  }

  generationOf(slot: number): number {
    return this.#generations[slot]!;
  }

  /** Whether the slot is live in that generation. Accepts any two numbers. */
  isLive(slot: number, generation: number): boolean {
    return this.#isLive[slot] === 1 && this.#generations[slot] === generation;
  }

  /** The fields of the spec in a slot of that generation. Throws if it is stale. */
  liveFields(slot: number, generation: number): SpecFields {
    assert(this.isLive(slot, generation), "shard spec view outlived its spec: it was freed, or the arena cleared");
    return this.#fields[slot]!;
  }

  /**
   * Copies a spec into the next slot, or changes nothing and returns the reason. A slot must be free.
   *
   * The fields are separate arguments: an object for them would be an allocation.
   */
  store(start: Uint8Array, end: Uint8Array, metadata: Uint8Array): SlabFull | undefined {
    const slot = this.nextSlot;
    const fields = (this.#fields[slot] ??= { start: new ByteSlot(), end: new ByteSlot(), metadata: new ByteSlot() });

    if (!this.slab.allocateInto(start, fields.start)) return this.#undo(start.length, []);
    if (!this.slab.allocateInto(end, fields.end)) return this.#undo(end.length, [fields.start]);
    if (!this.slab.allocateInto(metadata, fields.metadata))
      return this.#undo(metadata.length, [fields.end, fields.start]);

    if (this.#returnedCount > 0) this.#returnedCount -= 1;
    else this.#freshSlot += 1;
    this.#isLive[slot] = 1;
    return undefined;
  }

  /** Frees a live slot and its bytes. */
  release(slot: number): void {
    const { start, end, metadata } = this.#fields[slot]!;
    this.slab.deallocate(metadata);
    this.slab.deallocate(end);
    this.slab.deallocate(start);
    this.#isLive[slot] = 0;
    this.#generations[slot]! += 1;
    this.#returned[this.#returnedCount++] = slot;
  }

  /** Frees everything. Every slot enters its next generation, and slot 0 is the next to use. */
  clear(): void {
    this.slab.clear();
    this.#isLive.fill(0);
    for (let slot = 0; slot < this.#generations.length; slot++) this.#generations[slot]! += 1;
    this.#returnedCount = 0;
    this.#freshSlot = 0;
  }

  /** Frees the stored part of a spec. Returns the size that was refused and the size that the slab could serve now. */
  #undo(refusedSize: number, stored: readonly ByteSlot[]): SlabFull {
    const requested = this.slab.refusalFor(refusedSize)!.requested;
    for (const slot of stored) this.slab.deallocate(slot);
    return { kind: "SlabFull", requested, available: this.slab.refusalFor(ANYTHING)!.available };
  }
}
