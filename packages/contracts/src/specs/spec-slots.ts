import { assert, ByteSlab, ByteSlot, type SlabFull } from "@gossip/stdx";

/** Where each field of a slot's spec is kept. */
interface SpecFields {
  readonly start: ByteSlot;
  readonly end: ByteSlot;
  readonly metadata: ByteSlot;
}

/** A request that no slab can serve: its error contains the size that the slab could serve. */
const ANYTHING = Number.MAX_SAFE_INTEGER;

/**
 * The slots of a `ShardArena`: their bytes, which of them are live, and since when.
 *
 * Apart from the arena because its views look in here too: a view must find out by
 * itself that its spec is gone.
 */
export class SpecSlots {
  readonly slab: ByteSlab;
  readonly #isLive: Uint8Array;
  // A plain array: read from it, a number is a small integer and costs an object that holds it no box of its own, and
  // past 31 bits it still counts on. It never wraps, so a handle never becomes good again.
  readonly #generations: number[];
  // Slots that were used and given up, the last one on top.
  readonly #returned: Uint32Array;
  #returnedCount = 0;
  // Slots from here on have not been used since the arena was made or cleared.
  #freshSlot = 0;
  // Made when a slot is first used, and kept: storing a spec then leaves nothing for the collector.
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

  /** The slot that the next spec gets: the one given up last, else the lowest that is fresh. */
  get nextSlot(): number {
    return this.#returnedCount > 0 ? this.#returned[this.#returnedCount - 1]! : this.#freshSlot;
  }

  generationOf(slot: number): number {
    return this.#generations[slot]!;
  }

  /** Whether the slot still holds what it held in that generation. Any two numbers may be asked about. */
  isLive(slot: number, generation: number): boolean {
    return this.#isLive[slot] === 1 && this.#generations[slot] === generation;
  }

  /** Where the fields of the spec are that a slot held in that generation. Throws if it no longer does. */
  liveFields(slot: number, generation: number): SpecFields {
    assert(this.isLive(slot, generation), "shard spec view outlived its spec: it was freed, or the arena cleared");
    return this.#fields[slot]!;
  }

  /**
   * Copies a spec into the next slot, or changes nothing and returns the reason. A slot must be free.
   *
   * The fields come one by one, because an object that holds them would be garbage.
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

  /** Give up a live slot and its bytes. */
  release(slot: number): void {
    const { start, end, metadata } = this.#fields[slot]!;
    this.slab.deallocate(metadata);
    this.slab.deallocate(end);
    this.slab.deallocate(start);
    this.#isLive[slot] = 0;
    this.#generations[slot]! += 1;
    this.#returned[this.#returnedCount++] = slot;
  }

  /** Give up everything. Every slot enters its next generation, and slot 0 is next. */
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
