// Two live byte strings that share a byte corrupt each other without a trace, and a slot used after its
// time reads or frees somebody else's. So the slab is held, step by step, to a model that is too simple to
// be wrong, and every wrong use of a slot must throw, not only where a debug aid is on.

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { InvariantViolation } from "./assert.ts";
import { ByteSlab } from "./byte-slab.ts";
import { ByteSlot } from "./byte-slot.ts";
import { classOf, SlabModel, type ModelSlot } from "./slab-model.fixture.ts";
import { unwrap } from "./unwrap.ts";

type Step =
  | { readonly do: "allocate"; readonly size: number; readonly into: boolean }
  | { readonly do: "free" | "misuse"; readonly pick: number }
  | { readonly do: "clear" };

// Around each class boundary, and mostly small: a slab of a few hundred bytes then fills, empties and
// breaks up many times in one run.
const size = fc.oneof(
  fc.integer({ min: 1, max: 33 }),
  fc.constantFrom(15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 257),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("allocate" as const), size, into: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("free" as const), pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("misuse" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const) }) },
);

/** A slab and its model, driven together. */
class Pair {
  readonly slab: ByteSlab;
  readonly model: SlabModel;
  readonly live: { readonly slot: ByteSlot; readonly twin: ModelSlot }[] = [];
  readonly dead: ByteSlot[] = [new ByteSlab(16), new ByteSlab(64)].map((other) =>
    unwrap(other.allocate(Uint8Array.of(1))),
  );
  #written = 0;

  constructor(capacity: number, poisonFreed: boolean) {
    this.slab = new ByteSlab(capacity, { poisonFreed });
    this.model = new SlabModel(capacity);
  }

  run(step: Step): void {
    if (step.do === "allocate") this.#allocate(step);
    if (step.do === "free") this.#free(step.pick);
    if (step.do === "misuse") this.#misuse(step.pick);
    if (step.do === "clear") this.#clear();
  }

  /** Every invariant of the slab. The model's own state is the expected one. */
  check(): void {
    const { slab, model, live } = this;
    const free = slab.freeBlocks();
    expect(free).toEqual(model.free);
    for (const [index, block] of free.entries()) {
      expect(block.offset + block.size).toBeLessThan(free[index + 1]?.offset ?? slab.bumpOffset);
    }
    expect(slab.bumpOffset).toBe(model.bump);
    expect(slab.bumpOffset).toBeLessThanOrEqual(slab.capacity);
    expect(slab.freeListBytes).toBe(free.reduce((sum, block) => sum + block.size, 0));
    expect(slab.liveBytes).toBe(live.reduce((sum, { slot }) => sum + slot.allocSize, 0));
    expect(slab.liveBytes + slab.freeListBytes + (slab.capacity - slab.bumpOffset)).toBe(slab.capacity);
    expect(slab.availableBytes).toBe(slab.freeListBytes + (slab.capacity - slab.bumpOffset));
    expect(slab.liveCount).toBe(live.length);
    expect(slab.isEmpty).toBe(live.length === 0);
    for (const { slot, twin } of live) expect(slab.get(slot)).toEqual(twin.bytes);
  }

  #allocate({ size, into }: { readonly size: number; readonly into: boolean }): void {
    const bytes = new Uint8Array(size).fill(++this.#written);
    const twin = this.model.allocate(bytes);
    const slot = into ? this.#allocateInto(bytes) : this.#allocateOwned(bytes);
    expect(slot === undefined).toBe(twin === undefined);
    if (slot === undefined || twin === undefined) return;
    const { offset, allocSize } = twin;
    expect(slot).toMatchObject({ offset, length: size, allocSize, ownerId: this.slab.ownerId });
    this.live.push({ slot, twin });
  }

  #allocateInto(bytes: Uint8Array): ByteSlot | undefined {
    const slot = new ByteSlot();
    const refusal = this.slab.refusalFor(bytes.length);
    const done = this.slab.allocateInto(bytes, slot);
    expect(done).toBe(refusal === undefined);
    if (!done) expect(slot).toEqual(ByteSlot.EMPTY);
    return done ? slot : undefined;
  }

  #allocateOwned(bytes: Uint8Array): ByteSlot | undefined {
    const result = this.slab.allocate(bytes);
    if (result.ok) return result.value;
    expect(result.error).toEqual({
      kind: "SlabFull",
      requested: classOf(bytes.length),
      available: this.model.available(),
    });
    return undefined;
  }

  #free(pick: number): void {
    const [gone] = this.live.splice(pick % Math.max(this.live.length, 1), 1);
    if (gone === undefined) return;
    this.slab.deallocate(gone.slot);
    this.model.deallocate(gone.twin);
    this.dead.push(gone.slot);
  }

  /** Use a slot whose time is over: freed, from before a clear, or of another slab. */
  #misuse(pick: number): void {
    const slot = this.dead[pick % this.dead.length]!;
    for (const use of slotUses(this.slab)) expect(() => use(slot.copy())).toThrow(InvariantViolation);
  }

  #clear(): void {
    const before = this.slab.ownerId;
    this.slab.clear();
    this.model.clear();
    this.dead.push(...this.live.splice(0).map(({ slot }) => slot));
    expect(this.slab.ownerId).toBeGreaterThan(before);
  }
}

/** Every method that takes a slot. */
function slotUses(slab: ByteSlab): ((slot: ByteSlot) => unknown)[] {
  return [
    (slot) => slab.get(slot),
    (slot) => slab.deallocate(slot),
    (slot) => slab.toOwned(slot),
    (slot) => slab.copyInto(slot, new Uint8Array(512)),
  ];
}

describe("ByteSlab", () => {
  test("does what the model does, and keeps every invariant at every step", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 700 }),
        fc.boolean(),
        fc.array(step, { maxLength: 120, size: "max" }),
        (capacity, poisonFreed, steps) => {
          const pair = new Pair(capacity, poisonFreed);
          for (const step of steps) {
            pair.run(step);
            pair.check();
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
