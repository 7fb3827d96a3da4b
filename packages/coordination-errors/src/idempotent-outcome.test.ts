// A caller that takes a replay for a first execution counts work twice; one that loses the difference in a `map` cannot
// tell any more.

import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdempotentOutcome } from "./idempotent-outcome.ts";

const outcome: fc.Arbitrary<IdempotentOutcome<number>> = fc.oneof(
  fc.integer().map((value) => IdempotentOutcome.executed(value)),
  fc.integer().map((value) => IdempotentOutcome.replayed(value)),
);

describe("IdempotentOutcome", () => {
  test("is a replay exactly when it was not executed", () => {
    fc.assert(fc.property(outcome, (it) => IdempotentOutcome.isReplay(it) !== IdempotentOutcome.isExecuted(it)));
    expect(IdempotentOutcome.isExecuted(IdempotentOutcome.executed(1))).toBe(true);
    expect(IdempotentOutcome.isReplay(IdempotentOutcome.replayed(1))).toBe(true);
  });

  test("map changes the value, and nothing about how it came to be", () => {
    fc.assert(
      fc.property(outcome, fc.func(fc.string()), (it, change) => {
        const mapped = IdempotentOutcome.map(it, change);
        expect(mapped).toEqual({ kind: it.kind, value: change(it.value) });
        expect(IdempotentOutcome.intoInner(mapped)).toBe(change(IdempotentOutcome.intoInner(it)));
      }),
    );
  });

  test("survives a clone", () => {
    fc.assert(
      fc.property(outcome, (it) => {
        const clone = structuredClone(it);
        expect(clone).toEqual(it);
        expect(IdempotentOutcome.isReplay(clone)).toBe(IdempotentOutcome.isReplay(it));
      }),
    );
  });

  test.each([undefined, null, 5, {}, { kind: "Odd", value: 1 }])("%o is no outcome", (given) => {
    expect(() => IdempotentOutcome.isReplay(given as never)).toThrow(InvariantViolation);
    expect(() => IdempotentOutcome.isExecuted(given as never)).toThrow(InvariantViolation);
    expect(() => IdempotentOutcome.map(given as never, String)).toThrow(InvariantViolation);
    expect(() => IdempotentOutcome.intoInner(given as never)).toThrow(InvariantViolation);
    expect(() => IdempotentOutcome.map(IdempotentOutcome.executed(1), given as never)).toThrow(InvariantViolation);
  });

  test("without a value it is one shared object, which cannot be changed", () => {
    expect(IdempotentOutcome.executed()).toBe(IdempotentOutcome.executed());
    expect(IdempotentOutcome.replayed()).toBe(IdempotentOutcome.replayed());
    expect(Object.isFrozen(IdempotentOutcome.executed())).toBe(true);
    expect(Object.isFrozen(IdempotentOutcome.replayed())).toBe(true);
    expect(IdempotentOutcome.executed().kind).toBe("Executed");
    expect(IdempotentOutcome.replayed().kind).toBe("Replayed");
  });
});
