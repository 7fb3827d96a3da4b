// The op-log is a ring: an entry that goes too early turns a retry into a second execution. The ring's start
// travels, so a mistake shows only after it has gone round; the steps below go round many times.

import { inspect } from "node:util";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { InvariantViolation } from "./assert.ts";
import { collectGarbage } from "./collect-garbage.fixture.ts";
import { err, ok } from "./result.ts";
import { RingBuffer } from "./ring-buffer.ts";

type Step =
  | { readonly do: "pushBack" | "pushBackOverwrite"; readonly item: number }
  | { readonly do: "popFront" }
  | { readonly do: "clear" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("pushBack", "pushBackOverwrite"), item: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("popFront") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear") }) },
);

const capacity = fc.constantFrom(1, 2, 4, 8);

function runOnRing(ring: RingBuffer<number>, step: Step): unknown {
  if (step.do === "popFront") return ring.popFront();
  if (step.do === "clear") return ring.clear();
  return step.do === "pushBack" ? ring.pushBack(step.item) : ring.pushBackOverwrite(step.item);
}

/** The same on a plain array whose first element is the oldest. */
function runOnModel(model: number[], capacity: number, step: Step): unknown {
  if (step.do === "popFront") return model.shift();
  if (step.do === "clear") return void model.splice(0);
  const isFull = model.length === capacity;
  if (step.do === "pushBack" && isFull) return err({ kind: "RingFull", item: step.item });
  const evicted = isFull ? model.shift() : undefined;
  model.push(step.item);
  return step.do === "pushBack" ? ok() : evicted;
}

describe("RingBuffer", () => {
  test("does what a plain array does, step by step, however often it has gone round", () => {
    fc.assert(
      fc.property(capacity, fc.array(step, { maxLength: 60, size: "max" }), (capacity, steps) => {
        const ring = new RingBuffer<number>(capacity);
        const model: number[] = [];
        for (const step of steps) {
          expect(runOnRing(ring, step)).toEqual(runOnModel(model, capacity, step));
          expect({
            items: [...ring],
            reversed: [...ring.reversed()],
            byIndex: Array.from({ length: capacity + 1 }, (_, index) => ring.get(index)),
            ends: [ring.front(), ring.back()],
            length: ring.length,
            isEmpty: ring.isEmpty,
            isFull: ring.isFull,
          }).toEqual({
            items: model,
            reversed: model.toReversed(),
            byIndex: Array.from({ length: capacity + 1 }, (_, index) => model[index]),
            ends: [model.at(0), model.at(-1)],
            length: model.length,
            isEmpty: model.length === 0,
            isFull: model.length === capacity,
          });
        }
      }),
    );
  });

  test("two rings are equal where their items are, wherever those lie", () => {
    fc.assert(
      fc.property(
        capacity,
        fc.array(fc.nat(3), { maxLength: 8 }),
        fc.nat(20),
        fc.nat(3),
        (capacity, items, turns, other) => {
          const kept = items.slice(-capacity);
          const straight = RingBuffer.from(kept, capacity);
          const travelled = new RingBuffer<number>(capacity);
          for (let turn = 0; turn < turns; turn++) travelled.pushBackOverwrite(9);
          while (!travelled.isEmpty) travelled.popFront();
          for (const item of kept) travelled.pushBackOverwrite(item);

          expect(travelled.equals(straight)).toBe(true);
          expect(straight.equals(travelled.clone())).toBe(true);
          travelled.pushBackOverwrite(other);
          expect(travelled.equals(straight)).toBe(kept.length === capacity && kept.every((item) => item === other));
        },
      ),
    );
  });

  test("does not keep alive what it has given back or was cleared of", async () => {
    const [popped, cleared] = [new RingBuffer<object>(4), new RingBuffer<object>(4)];
    const refs = [popped, cleared].map((ring) =>
      [{}, {}].map((item) => (ring.pushBackOverwrite(item), new WeakRef(item))),
    );
    popped.popFront();
    cleared.clear();
    await new Promise(setImmediate);
    collectGarbage();

    expect(refs.map((ofRing) => ofRing.map((ref) => ref.deref() === undefined))).toEqual([
      [true, false],
      [true, true],
    ]);
    expect([popped.length, cleared.length]).toEqual([1, 0]);
  });

  test("is made of no more items than it holds", () => {
    expect(() => RingBuffer.from([1, 2, 3], 2)).toThrow(
      new InvariantViolation("there are more items than the ring's capacity of 2"),
    );
    expect(RingBuffer.tryFrom([1, 2, 3, 4], 2)).toEqual(err({ kind: "RingFull", item: 3 }));
    expect([...RingBuffer.from(new Set([1, 2]), 2)]).toEqual([1, 2]);
  });

  test("prints as a list, oldest first", () => {
    const ring = RingBuffer.from([1, 2], 2);
    ring.pushBackOverwrite(3);
    expect(inspect({ ring })).toBe("{ ring: [ 2, 3 ] }");
    expect(JSON.stringify({ ring })).toBe('{"ring":[2,3]}');
  });

  test.each([0, -2, 1.5, Number.NaN, 2 ** 32, "4", undefined])("capacity %s is refused", (capacity) => {
    expect(() => new RingBuffer(capacity as number)).toThrow(
      /^capacity must be a whole number from 1 to 2147483648, got /u,
    );
  });

  test.each([3, 6, 2 ** 31 - 1])("capacity %d is not a power of two", (capacity) => {
    expect(() => new RingBuffer(capacity)).toThrow(
      new InvariantViolation(`capacity must be a power of two, got ${capacity}`),
    );
  });

  test.each([-1, 0.5, Number.NaN, "0", undefined])("index %s is refused", (index) => {
    expect(() => new RingBuffer(2).get(index as number)).toThrow(/^index must be a whole number from 0 to /u);
  });

  test.each([undefined, null, 7, {}])("%o is neither items nor a ring", (value) => {
    expect(() => RingBuffer.from(value as never, 2)).toThrow(/^items must be iterable, got /u);
    expect(() => RingBuffer.tryFrom(value as never, 2)).toThrow(/^items must be iterable, got /u);
    expect(() => new RingBuffer(2).equals(value as never)).toThrow(/^other must be a RingBuffer, got /u);
  });
});
