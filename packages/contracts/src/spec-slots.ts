import { ByteSlab, ByteSlot, type SlabFull } from "@gossip/stdx";
import type { ShardSpecRef } from "./shard-spec-ref.ts";

/** Where each field of a slot's spec is kept. */
interface SpecFields {
  readonly start: ByteSlot;
  readonly end: ByteSlot;
  readonly metadata: ByteSlot;
}

/** A request that no slab grants, so that its refusal tells what the slab could grant. */
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
  // Counted without wrapping, further than any process lives: a handle never becomes good again.
  readonly #generations: Float64Array;
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
    this.#generations = new Float64Array(capacity.specSlots);
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

  /** The fields of a live slot. */
  fieldsOf(slot: number): SpecFields {
    return this.#fields[slot]!;
  }

  /** Copy a spec into the next slot, or change nothing and say why not. A slot must be free. */
  store(spec: ShardSpecRef): SlabFull | undefined {
    const slot = this.nextSlot;
    this.#fields[slot] ??= { start: new ByteSlot(), end: new ByteSlot(), metadata: new ByteSlot() };
    const { start, end, metadata } = this.#fields[slot];
    const { keyRangeStart, keyRangeEnd } = spec;

    if (!this.slab.allocateInto(keyRangeStart, start)) return this.#undo(keyRangeStart.length, []);
    if (!this.slab.allocateInto(keyRangeEnd, end)) return this.#undo(keyRangeEnd.length, [start]);
    if (!this.slab.allocateInto(spec.metadata, metadata)) return this.#undo(spec.metadata.length, [end, start]);

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

  /** Free what was stored of a spec, and say which size was refused and what the slab could grant now. */
  #undo(refusedSize: number, stored: readonly ByteSlot[]): SlabFull {
    const requested = this.slab.refusalFor(refusedSize)!.requested;
    for (const slot of stored) this.slab.deallocate(slot);
    return { kind: "SlabFull", requested, available: this.slab.refusalFor(ANYTHING)!.available };
  }
}
