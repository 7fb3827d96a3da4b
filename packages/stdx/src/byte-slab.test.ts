// The examples that pin what the model test does not say: the reference's own trace, the numbers at the
// edges of the classes, what the debug aids do, and that wrong use throws and changes nothing.

import { describe, expect, test } from "vitest";
import { InvariantViolation } from "./assert.ts";
import { ByteSlab } from "./byte-slab.ts";
import { ByteSlot } from "./byte-slot.ts";
import { classOf } from "./slab-model.fixture.ts";
import { unwrap } from "./result.ts";
import fc from "fast-check";

function bytesOf(size: number, value = 7): Uint8Array {
  return new Uint8Array(size).fill(value);
}

function store(slab: ByteSlab, size: number, value = 7): ByteSlot {
  return unwrap(slab.allocate(bytesOf(size, value)));
}

describe("the trace of the reference, capacity 128", () => {
  const slab = new ByteSlab(128);
  const slots = new Map<number, ByteSlot>();

  // In step 6 two blocks of 16 are free, one before the bump and one beyond: 16 is what would fit.
  test.each([
    { step: 1, allocate: 20, gives: { offset: 0, length: 20, allocSize: 32 }, bump: 32, free: [] },
    { step: 2, allocate: 5, gives: { offset: 32, length: 5, allocSize: 16 }, bump: 48, free: [] },
    { step: 3, deallocate: 1, bump: 48, free: [{ offset: 0, size: 32 }] },
    {
      step: 4,
      allocate: 10,
      gives: { offset: 0, length: 10, allocSize: 16 },
      bump: 48,
      free: [{ offset: 16, size: 16 }],
    },
    {
      step: 5,
      allocate: 40,
      gives: { offset: 48, length: 40, allocSize: 64 },
      bump: 112,
      free: [{ offset: 16, size: 16 }],
    },
    {
      step: 6,
      allocate: 17,
      refused: { kind: "SlabFull", requested: 32, available: 16 },
      bump: 112,
      free: [{ offset: 16, size: 16 }],
    },
    { step: 7, deallocate: 2, bump: 112, free: [{ offset: 16, size: 32 }] },
    { step: 8, allocate: 17, gives: { offset: 16, length: 17, allocSize: 32 }, bump: 112, free: [] },
    { step: 9, deallocate: 5, bump: 48, free: [] },
  ])("step $step", ({ step, allocate, deallocate, gives, refused, bump, free }) => {
    if (deallocate !== undefined) slab.deallocate(slots.get(deallocate)!);
    if (allocate !== undefined) {
      const result = slab.allocate(bytesOf(allocate));
      if (result.ok) slots.set(step, result.value);
      expect(result).toMatchObject(gives === undefined ? { ok: false, error: refused } : { ok: true, value: gives });
    }
    expect(slab.bumpOffset).toBe(bump);
    expect(slab.freeBlocks()).toEqual(free);
  });
});

describe("a refusal", () => {
  test("names the largest class that would still be given", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), sizes, fc.array(fc.nat()), (capacity, stored, freed) => {
        const slab = new ByteSlab(capacity);
        const slots = stored
          .map((size) => slab.allocate(bytesOf(size)))
          .flatMap((stored) => (stored.ok ? [stored.value] : []));
        for (const pick of freed) slots.splice(pick % (slots.length + 1), 1).forEach((slot) => slab.deallocate(slot));

        const { available } = slab.refusalFor(2 ** 31)!;

        expect(slab.refusalFor(available)).toBeUndefined();
        expect(slab.refusalFor(available + 1)).toEqual({
          kind: "SlabFull",
          requested: classOf(available + 1),
          available,
        });
        expect(slab.allocate(bytesOf(available + 1)).ok).toBe(false);
        expect(slab.allocate(bytesOf(available)).ok).toBe(true);
      }),
    );
  });

  test.each([
    { capacity: 0, size: 1, requested: 16, available: 0 },
    { capacity: 15, size: 1, requested: 16, available: 0 },
    { capacity: 31, size: 17, requested: 32, available: 16 },
    { capacity: 100, size: 65, requested: 128, available: 64 },
    { capacity: 64, size: 2 ** 31, requested: 2 ** 31, available: 64 },
    // No class is as large as this.
    { capacity: 64, size: 2 ** 31 + 1, requested: 2 ** 32 - 1, available: 64 },
    { capacity: 64, size: 2 ** 40, requested: 2 ** 32 - 1, available: 64 },
  ])("of $size bytes by a slab of $capacity", ({ capacity, size, requested, available }) => {
    expect(new ByteSlab(capacity).refusalFor(size)).toEqual({ kind: "SlabFull", requested, available });
  });

  test("leaves the caller's slot and the slab as they were", () => {
    const slab = new ByteSlab(32);
    const slot = store(slab, 16);
    const before = slot.copy();

    expect(slab.allocateInto(bytesOf(17), slot)).toBe(false);

    expect(slot).toEqual(before);
    expect(slab.get(slot)).toEqual(bytesOf(16));
    expect(slab.liveCount).toBe(1);
  });
});

describe("a slot", () => {
  /** Every method that takes one. */
  const uses: [string, (slab: ByteSlab, slot: ByteSlot) => unknown][] = [
    ["get", (slab, slot) => slab.get(slot)],
    ["copyInto", (slab, slot) => slab.copyInto(slot, bytesOf(64))],
    ["deallocate", (slab, slot) => slab.deallocate(slot)],
  ];

  test.each(uses)("cannot be used for %s once it is freed, not even when the same bytes are live again", (_, use) => {
    const slab = new ByteSlab(64);
    const freed = store(slab, 16);
    const copy = freed.copy();
    slab.deallocate(freed);
    expect(() => use(slab, freed)).toThrow(
      new InvariantViolation("slot has been freed: its bytes may be another's by now"),
    );
    const heir = store(slab, 16, 9);

    expect(heir.offset).toBe(freed.offset);
    for (const slot of [freed, copy]) expect(() => use(slab, slot)).toThrow(/^slot has been freed/u);
    expect(slab.get(heir)).toEqual(bytesOf(16, 9));
  });

  test.each(uses)("cannot be used for %s by another slab, nor after a clear", (_, use) => {
    const slab = new ByteSlab(64);
    const slot = store(slab, 16);
    const other = new ByteSlab(64);
    store(other, 16);
    expect(() => use(other, slot)).toThrow(/^slot is of another slab/u);

    slab.clear();
    store(slab, 16);
    expect(() => use(slab, slot)).toThrow(/of this one before it was cleared$/u);
    expect(slab.liveCount).toBe(1);
  });

  test("of nothing is the same for every slab, and costs nothing", () => {
    const slab = new ByteSlab(0);
    expect(unwrap(slab.allocate(new Uint8Array(0)))).toBe(ByteSlot.EMPTY);
    const slot = new ByteSlot();
    expect(slab.allocateInto(new Uint8Array(0), slot)).toBe(true);
    for (const empty of [ByteSlot.EMPTY, slot]) {
      expect(empty).toMatchObject({ offset: 0, length: 0, allocSize: 0, ownerId: 0, isEmpty: true });
      expect(slab.get(empty)).toEqual(new Uint8Array(0));
      expect(slab.copyInto(empty, bytesOf(1))).toBe(0);
      slab.deallocate(empty);
      slab.deallocate(empty);
    }
    expect(slab.refusalFor(0)).toBeUndefined();
  });

  test("that named bytes is empty after the empty byte string was stored into it", () => {
    const slab = new ByteSlab(64);
    const slot = store(slab, 20);
    const kept = slot.copy();

    slab.allocateInto(new Uint8Array(0), slot);

    expect(slot).toEqual(ByteSlot.EMPTY);
    expect(slab.get(slot)).toEqual(new Uint8Array(0));
    expect(slab.get(kept)).toEqual(bytesOf(20));
  });
});

describe("the bytes", () => {
  test("are copied in, and a view of the slab's own may be the source", () => {
    const slab = new ByteSlab(64);
    const source = bytesOf(5, 1);
    const first = unwrap(slab.allocate(source));
    source.fill(2);
    expect(slab.get(first)).toEqual(bytesOf(5, 1));

    const second = unwrap(slab.allocate(slab.get(first)));
    slab.get(second).fill(3);
    expect(slab.get(first)).toEqual(bytesOf(5, 1));
    expect(slab.get(second)).toEqual(bytesOf(5, 3));
  });

  test("come out the same in every form, whatever the size", () => {
    const slab = new ByteSlab(4096);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        slab.clear();
        const slot = unwrap(slab.allocate(Buffer.from(bytes)));
        const out = new Uint8Array(bytes.length + 3);
        expect(slab.copyInto(slot, out)).toBe(bytes.length);
        expect(out).toEqual(Uint8Array.of(...bytes, 0, 0, 0));
        expect(slab.get(slot)).toEqual(bytes);
      }),
    );
  });

  test("that do not fit are not copied out in part", () => {
    const slab = new ByteSlab(64);
    const out = new Uint8Array(19);
    expect(() => slab.copyInto(store(slab, 20), out)).toThrow(
      new InvariantViolation("slot of 20 bytes does not fit into 19"),
    );
    expect(out).toEqual(new Uint8Array(19));
  });

  test("are gone after zeroizeUsed, also those that were freed at the end", () => {
    const slab = new ByteSlab(256);
    const [live, last] = [store(slab, 16), store(slab, 100)];
    const view = slab.get(last);
    slab.deallocate(last);
    expect(view).toEqual(bytesOf(100));

    slab.zeroizeUsed();

    expect(view).toEqual(bytesOf(100, 0));
    expect(slab.get(live)).toEqual(bytesOf(16, 0));
    expect(slab.liveCount).toBe(1);
  });

  test("are gone after a second zeroizeUsed, also those stored between in blocks used before", () => {
    const slab = new ByteSlab(256);
    const [first] = [store(slab, 16), store(slab, 16)];
    slab.zeroizeUsed();
    slab.deallocate(first);
    const view = slab.get(store(slab, 16, 9));

    slab.zeroizeUsed();

    expect(view).toEqual(bytesOf(16, 0));
  });

  test("are gone after clear and zeroizeUsed", () => {
    const slab = new ByteSlab(64);
    const view = slab.get(store(slab, 40));
    slab.clear();
    slab.zeroizeUsed();
    expect(view).toEqual(bytesOf(40, 0));
  });
});

describe("debug aids", () => {
  test.each([
    { poisonFreed: true, expected: 0xde },
    { poisonFreed: false, expected: 7 },
  ])("freed bytes read $expected with poisonFreed $poisonFreed", ({ poisonFreed, expected }) => {
    const slab = new ByteSlab(64, { poisonFreed });
    const slot = store(slab, 20);
    const neighbor = store(slab, 16, 5);
    // The whole block, from behind: bytes of an earlier use may be in its rest.
    const block = new Uint8Array(slab.get(slot).buffer, slot.offset, slot.allocSize).fill(7);
    slab.deallocate(slot);
    expect(block).toEqual(bytesOf(32, expected));
    expect(slab.get(neighbor)).toEqual(bytesOf(16, 5));
  });

  test("disposal throws where a slot leaks, if asked to look", () => {
    const leaky = new ByteSlab(64, { checkLeaks: true });
    const slot = store(leaky, 16);
    expect(() => leaky[Symbol.dispose]()).toThrow(new InvariantViolation("slab disposed of with 1 live slots"));
    leaky.deallocate(slot);
    leaky[Symbol.dispose]();

    const unchecked = new ByteSlab(64);
    store(unchecked, 16);
    unchecked[Symbol.dispose]();
    expect(unchecked.liveCount).toBe(0);
  });
});

describe("bad input", () => {
  test.each([-1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY, "64", undefined, null, 64n])(
    "capacity %s is refused",
    (capacity) => {
      expect(() => new ByteSlab(capacity as number)).toThrow(InvariantViolation);
      expect(() => new ByteSlab(capacity as number)).toThrow(
        /^slab capacity must be a whole number from 0 to 4294967295, got /u,
      );
    },
  );

  test.each([
    undefined,
    null,
    "secret",
    [1],
    new Uint16Array(1),
    new Uint8ClampedArray(1),
    new ArrayBuffer(1),
    { length: 1 },
  ])("%o is not bytes", (bytes) => {
    const slab = new ByteSlab(64);
    const slot = new ByteSlot();
    const refusal = /^(bytes|out) must be a Uint8Array, got (?!.*secret)/u;
    expect(() => slab.allocate(bytes as Uint8Array)).toThrow(refusal);
    expect(() => slab.allocateInto(bytes as Uint8Array, slot)).toThrow(refusal);
    expect(() => slab.copyInto(store(slab, 1), bytes as Uint8Array)).toThrow(refusal);
    expect(slot).toEqual(ByteSlot.EMPTY);
  });

  test.each([undefined, null, 0, "slot", {}, structuredClone(ByteSlot.EMPTY)])("%o is not a slot", (slot) => {
    const slab = new ByteSlab(64);
    const refusal = /^slot must be a ByteSlot, got /u;
    expect(() => slab.get(slot as ByteSlot)).toThrow(refusal);
    expect(() => slab.copyInto(slot as ByteSlot, bytesOf(1))).toThrow(refusal);
    expect(() => slab.deallocate(slot as ByteSlot)).toThrow(refusal);
    expect(() => slab.allocateInto(bytesOf(1), slot as ByteSlot)).toThrow(refusal);
    expect(slab.liveCount).toBe(0);
  });

  test("an object that only inherits from ByteSlot is foreign", () => {
    const slab = new ByteSlab(64);
    const fake = Object.create(ByteSlot.prototype) as ByteSlot;
    expect(() => slab.deallocate(fake)).toThrow(/^slot is of another slab/u);
  });

  test("the shared empty slot is not written to", () => {
    const slab = new ByteSlab(64);
    expect(() => slab.allocateInto(bytesOf(1), ByteSlot.EMPTY)).toThrow(/^ByteSlot.EMPTY is shared/u);
    expect(slab.liveCount).toBe(0);
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 53, "1"])("size %s is refused", (size) => {
    expect(() => new ByteSlab(64).refusalFor(size as number)).toThrow(/^size must be a whole number from 0 to /u);
  });

  test.each([null, 5, "poison"])("options %o are refused", (options) => {
    expect(() => new ByteSlab(64, options as unknown as object)).toThrow(/^slab options must be an object, got /u);
  });
});
