// Two live byte strings that share a byte corrupt each other without a trace, and a slot used after its
// time reads or frees the block of another owner. So the slab is held, step by step, to a model that is too simple to
// be wrong: the same blocks at the same offsets, the same refusals, and every invariant after every step.

import { describe, expect, test } from "vitest";
import { InvariantViolation } from "./assert.ts";
import { ByteSlab } from "./byte-slab.ts";
import type { ByteSlot } from "./byte-slot.ts";
import { classOf, SlabModel, type ModelSlot } from "./slab-model.fixture.ts";
import { unwrap } from "./result.ts";
import fc from "fast-check";

type Step =
  | { readonly do: "allocate" | "allocateInto"; readonly size: number }
  | { readonly do: "free" | "misuse"; readonly pick: number }
  | { readonly do: "clear" };

// Around each class boundary, and mostly small: a slab of a few hundred bytes then fills, empties and
// breaks up many times in one run.
const size = fc.oneof(
  fc.integer({ min: 1, max: 33 }),
  fc.constantFrom(15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 257),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom("allocate", "allocateInto"), size }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("free"), pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("misuse"), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear") }) },
);

/** A slab and its model, driven together. */
class Pair {
  readonly #slab: ByteSlab;
  readonly #model: SlabModel;
  readonly #live: { readonly slot: ByteSlot; readonly twin: ModelSlot }[] = [];
  /** Slots whose time is over; from the start, two of other slabs. */
  readonly #dead = [new ByteSlab(16), new ByteSlab(64)].map((other) => unwrap(other.allocate(Uint8Array.of(1))));
  #written = 0;

  constructor(capacity: number, poisonFreed: boolean) {
    this.#slab = new ByteSlab(capacity, { poisonFreed });
    this.#model = new SlabModel(capacity);
  }

  run(step: Step): void {
    switch (step.do) {
      case "allocate":
        return this.#allocate(step.size);
      case "allocateInto":
        return this.#allocateInto(step.size);
      case "free":
        return this.#free(step.pick);
      case "misuse":
        return this.#misuse(step.pick);
      case "clear":
        return this.#clear();
    }
  }

  checkInvariants(): void {
    const slab = this.#slab;
    const free = slab.freeBlocks();
    const freeBytes = free.reduce((sum, block) => sum + block.size, 0);
    const liveBytes = this.#live.reduce((sum, { slot }) => sum + slot.allocSize, 0);
    const virginBytes = slab.capacity - slab.bumpOffset;
    expect({
      free,
      // No two touch, and none touches the bump.
      isApart: free.every(({ offset, size }, index) => offset + size < (free[index + 1]?.offset ?? slab.bumpOffset)),
      bump: slab.bumpOffset,
      freeBytes: slab.freeListBytes,
      liveBytes: slab.liveBytes,
      liveCount: slab.liveCount,
      isEmpty: slab.isEmpty,
      available: slab.availableBytes,
      total: liveBytes + freeBytes + virginBytes,
      isWithin: slab.bumpOffset <= slab.capacity,
      contents: this.#live.map(({ slot }) => slab.get(slot)),
    }).toEqual({
      free: this.#model.free,
      isApart: true,
      bump: this.#model.bump,
      freeBytes,
      liveBytes,
      liveCount: this.#live.length,
      isEmpty: this.#live.length === 0,
      available: freeBytes + virginBytes,
      total: slab.capacity,
      isWithin: true,
      contents: this.#live.map(({ twin }) => twin.bytes),
    });
  }

  #allocate(size: number): void {
    const bytes = this.#nextBytes(size);
    const available = this.#model.available();
    const twin = this.#model.allocate(bytes);
    const result = this.#slab.allocate(bytes);
    if (result.ok) return this.#keep(result.value, twin);
    expect(twin).toBeUndefined();
    expect(result.error).toEqual({ kind: "SlabFull", requested: classOf(size), available });
  }

  #allocateInto(size: number): void {
    const bytes = this.#nextBytes(size);
    const twin = this.#model.allocate(bytes);
    const isExpected = this.#slab.refusalFor(size) === undefined;
    const slot = this.#dead[0]!.copy();
    const before = slot.copy();
    expect(this.#slab.allocateInto(bytes, slot)).toBe(isExpected);
    if (isExpected) return this.#keep(slot, twin);
    expect(twin).toBeUndefined();
    expect(slot).toEqual(before);
  }

  #keep(slot: ByteSlot, twin: ModelSlot | undefined): void {
    expect(slot).toMatchObject({
      offset: twin?.offset,
      length: twin?.bytes.length,
      allocSize: twin?.allocSize,
      ownerId: this.#slab.ownerId,
    });
    this.#live.push({ slot, twin: twin! });
  }

  #free(pick: number): void {
    const [gone] = this.#live.splice(pick % Math.max(this.#live.length, 1), 1);
    if (gone === undefined) return;
    this.#slab.deallocate(gone.slot);
    this.#model.deallocate(gone.twin);
    this.#dead.push(gone.slot);
  }

  /** Use a slot whose time is over. The invariants that follow show that nothing came of it. */
  #misuse(pick: number): void {
    const slot = this.#dead[pick % this.#dead.length]!.copy();
    expect(() => this.#slab.get(slot)).toThrow(InvariantViolation);
    expect(() => this.#slab.deallocate(slot)).toThrow(InvariantViolation);
  }

  #clear(): void {
    const before = this.#slab.ownerId;
    this.#slab.clear();
    this.#model.clear();
    this.#dead.push(...this.#live.splice(0).map(({ slot }) => slot));
    expect(this.#slab.ownerId).toBeGreaterThan(before);
  }

  #nextBytes(size: number): Uint8Array {
    this.#written += 1;
    return new Uint8Array(size).fill(this.#written);
  }
}

describe("ByteSlab", () => {
  test("does what the model does, and keeps every invariant at every step", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 700 }),
        fc.boolean(),
        fc.array(step, { maxLength: 100, size: "max" }),
        (capacity, poisonFreed, steps) => {
          const pair = new Pair(capacity, poisonFreed);
          for (const step of steps) {
            pair.run(step);
            pair.checkInvariants();
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  // Large enough that the table of blocks must grow several times, and the tree of free blocks has depth.
  test("does what the model does among thousands of blocks", () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
        const pair = new Pair(2 ** 17, false);
        const next = () => numbers.next().value as number;
        for (let count = 0; count < 2000; count++) pair.run({ do: "allocateInto", size: 1 + (next() % 64) });
        for (let count = 0; count < 1000; count++) pair.run({ do: "free", pick: next() });
        pair.checkInvariants();
        for (let count = 0; count < 1000; count++) {
          pair.run(next() % 2 === 0 ? { do: "allocate", size: 1 + (next() % 64) } : { do: "free", pick: next() });
        }
        pair.checkInvariants();
      }),
      { numRuns: 5 },
    );
  });
});
