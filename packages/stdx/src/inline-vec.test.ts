// A split plan and a builder count on this list to hold exactly what was pushed, in order, on both sides of
// its capacity. What could go wrong is at that seam, and where two lists come to share one array.

import { inspect } from "node:util";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { InvariantViolation } from "./assert.ts";
import { InlineVec } from "./inline-vec.ts";

type Step =
  | { readonly do: "push"; readonly item: number }
  | { readonly do: "extend"; readonly items: number[] }
  | { readonly do: "double" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("push"), item: fc.nat() }),
  fc.record({ do: fc.constant("extend"), items: fc.array(fc.nat(), { maxLength: 4 }) }),
  fc.record({ do: fc.constant("double") }),
);

/** The same on a plain array. */
function runOnModel(model: number[], step: Step): void {
  if (step.do === "double") model.push(...model);
  else if (step.do === "extend") model.push(...step.items);
  else model.push(step.item);
}

function runOnVec(vec: InlineVec<number>, step: Step): void {
  if (step.do === "double") vec.extendFromSlice(vec.asSlice());
  else if (step.do === "extend") vec.extendFromSlice(step.items);
  else vec.push(step.item);
}

describe("InlineVec", () => {
  test("holds what a plain array holds, step by step, on both sides of its capacity", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 10 }), (capacity, steps) => {
        const vec = new InlineVec<number>(capacity);
        const model: number[] = [];
        for (const step of steps) {
          runOnVec(vec, step);
          runOnModel(model, step);
          expect({
            items: [...vec],
            slice: vec.asSlice(),
            length: vec.length,
            isEmpty: vec.isEmpty,
            isSpilled: vec.isSpilled,
          }).toEqual({
            items: model,
            slice: model,
            length: model.length,
            isEmpty: model.length === 0,
            isSpilled: model.length > capacity,
          });
        }
      }),
    );
  });

  test("is the same list, however it was made", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), fc.integer({ min: 1, max: 6 }), (items, capacity) => {
        const pushed = new InlineVec<number>(capacity);
        for (const item of items) pushed.push(item);
        const made = [
          InlineVec.fromSlice(items, capacity),
          InlineVec.fromArray([...items], capacity),
          InlineVec.fromArray(Object.freeze([...items]) as number[], capacity),
          InlineVec.fromIterable(items.values(), capacity),
          pushed.clone(),
        ];
        for (const vec of made) {
          expect(vec.equals(pushed)).toBe(true);
          expect(vec.capacity).toBe(capacity);
          vec.push(1);
          expect(vec.equals(pushed)).toBe(false);
        }
        expect(pushed.length).toBe(items.length);
      }),
    );
  });

  test("takes an array over only where it is longer than the capacity", () => {
    const [short, long] = [
      [1, 2],
      [1, 2, 3],
    ];
    expect(InlineVec.fromArray(short, 2).asSlice()).not.toBe(short);
    expect(InlineVec.fromArray(long, 2).asSlice()).toBe(long);
    expect(InlineVec.fromSlice(long, 2).asSlice()).not.toBe(long);
  });

  test("equality is of the items in order, not of the capacity, and by a measure of the caller's", () => {
    const of = (items: number[], capacity = 4) => InlineVec.fromSlice(items, capacity);
    expect(of([1, 2], 2).equals(of([1, 2], 1))).toBe(true);
    expect(of([1, 2]).equals(of([2, 1]))).toBe(false);
    expect(of([1, 2]).equals(of([1, 2, 3]))).toBe(false);
    expect(of([1, 2]).equals(of([3, 4]), (a, b) => a % 2 === b % 2)).toBe(true);
    expect(of([1, 2]).equals(of([2, 3]), (a, b) => a % 2 === b % 2)).toBe(false);
  });

  test("prints as a list", () => {
    const vec = InlineVec.fromSlice([1, 2], 4);
    expect(inspect({ vec })).toBe("{ vec: [ 1, 2 ] }");
    expect(JSON.stringify({ vec })).toBe('{"vec":[1,2]}');
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31 + 1, "2", undefined])("capacity %s is refused", (capacity) => {
    expect(() => new InlineVec(capacity as number)).toThrow(
      /^capacity must be a whole number from 1 to 2147483648, got /u,
    );
  });

  test.each([undefined, null, "ab", { length: 1 }])("%o is not a list of items", (items) => {
    const vec = InlineVec.fromSlice([1], 4);
    for (const call of [
      () => vec.extendFromSlice(items as never),
      () => InlineVec.fromSlice(items as never, 1),
      () => InlineVec.fromArray(items as never, 1),
    ]) {
      expect(call).toThrow(InvariantViolation);
      expect(call).toThrow(/^items must be an array, got /u);
    }
    expect(vec.length).toBe(1);
  });

  test.each([undefined, null, 7, {}])("%o cannot be walked", (items) => {
    expect(() => InlineVec.fromIterable(items as never, 1)).toThrow(/^items must be iterable, got /u);
    expect(() => new InlineVec(1).equals(items as never)).toThrow(/^other must be an InlineVec, got /u);
  });
});
