// The cursor follows what comes out of this window. One item too early and a crash loses it; one result twice and the sink counts it twice.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FinishedPrefix, type Slot } from "./finished-prefix.ts";

/** The same as a list of everything that was ever begun. */
class Model {
  readonly items: { state: "pending" | "finished" | "skipped"; result: string | undefined }[] = [];
  taken = 0;

  drain(): [number, string | undefined, boolean][] {
    const out: [number, string | undefined, boolean][] = [];
    while (this.taken < this.items.length && this.items[this.taken]!.state !== "pending") {
      const { state, result } = this.items[this.taken]!;
      out.push([this.taken++, result, state === "skipped"]);
    }
    return out;
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: "open" } as const) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("finish", "skip"), back: fc.nat({ max: 12 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "drain" } as const) },
);

function drained(window: FinishedPrefix<number, string>): [number, string | undefined, boolean][] {
  const out: [number, string | undefined, boolean][] = [];
  window.drain((item, result, isSkipped) => out.push([item, result, isSkipped]));
  return out;
}

describe("FinishedPrefix", () => {
  test("gives out exactly the finished prefix, in order and once, whatever order items finish in", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 80 }), (capacity, steps) => {
        const window = new FinishedPrefix<number, string>(capacity);
        const model = new Model();
        const slots: Slot[] = [];
        for (const action of steps) {
          if (action.kind === "open") {
            expect(window.isFull).toBe(model.items.length - model.taken === capacity);
            if (window.isFull) continue;
            slots.push(window.open(model.items.length));
            model.items.push({ state: "pending", result: undefined });
          } else if (action.kind === "drain") {
            expect(drained(window)).toEqual(model.drain());
          } else {
            const index = model.items.length - 1 - action.back;
            if (index < 0) continue;
            const entry = model.items[index]!;
            const isNews = entry.state === "pending";
            if (action.kind === "finish") {
              expect(window.finish(slots[index]!, `result ${index}`)).toBe(isNews);
              if (isNews) Object.assign(entry, { state: "finished", result: `result ${index}` });
            } else {
              expect(window.skip(slots[index]!, undefined)).toBe(isNews);
              if (isNews) entry.state = "skipped";
            }
          }
          expect(window.size).toBe(model.items.length - model.taken);
          expect(window.isEmpty).toBe(window.size === 0);
        }
      }),
    );
  });

  test("an item is not given out again where taking it throws", () => {
    const window = new FinishedPrefix<number, string>(4);
    for (const item of [0, 1]) window.finish(window.open(item), "done");
    expect(() =>
      window.drain(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(drained(window)).toEqual([[1, "done", false]]);
  });

  test("late answers find nothing once it is cleared", () => {
    const window = new FinishedPrefix<number, string>(2);
    const slot = window.open(7);
    window.clear();
    expect(window.finish(slot, "late")).toBe(false);
    expect(drained(window)).toEqual([]);
    window.finish(window.open(8), "new");
    expect(drained(window)).toEqual([[8, "new", false]]);
  });

  test("one more than there is room for is refused", () => {
    const window = new FinishedPrefix<number, string>(1);
    window.open(1);
    expect(() => window.open(2)).toThrow("the window is full");
    expect(() => new FinishedPrefix(0)).toThrow("capacity of the window must be a whole number from 1");
  });
});
