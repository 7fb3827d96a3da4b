// A store's failure is the one error with a text that we did not choose word by word in a table. A driver's own text in
// it would put rows into logs; a constructor that throws there would hide the failure.

import { InvariantViolation, Redacted } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { InfraError } from "./infra-error.ts";

const lost = { operation: "acquire.loadShard", message: "the connection was lost" } as const;

describe("InfraError", () => {
  test("is transient or corruption", () => {
    const transient = InfraError.transient(lost);
    const corruption = InfraError.corruption(lost);
    expect([transient, corruption].map((it) => InfraError.isTransient(it))).toEqual([true, false]);
    expect([transient, corruption].map((it) => InfraError.isCorruption(it))).toEqual([false, true]);
  });

  test("reads as class, label and sentence", () => {
    expect(InfraError.format(InfraError.corruption(lost))).toBe(
      "[corruption] acquire.loadShard: the connection was lost",
    );
    expect(InfraError.format(InfraError.transient({ ...lost, code: 14 }))).toBe(
      "[transient] acquire.loadShard: the connection was lost (14)",
    );
  });

  test("keeps what was thrown out of sight", () => {
    const cause = new Error("duplicate key (tenant, key) = (…)");
    const error = InfraError.transient({ ...lost, cause });
    expect(Redacted.reveal(error.cause)).toBe(cause);
    expect(JSON.stringify(error)).not.toContain("duplicate");
  });

  test.each([undefined, null, "Transient", {}, { kind: "Odd" }])("%o is none, and makes none", (given) => {
    expect(() => InfraError.isTransient(given as never)).toThrow(InvariantViolation);
    expect(() => InfraError.isCorruption(given as never)).toThrow(InvariantViolation);
    expect(() => InfraError.format(given as never)).toThrow(InvariantViolation);
    expect(() => InfraError.transient(given as never)).toThrow(InvariantViolation);
  });

  test.each(["57P01", "23505", "ECONNRESET", "MDB_MAP_FULL", 14, -30792])("%o is a code", (code) => {
    expect(InfraError.transient({ ...lost, code }).code).toBe(String(code));
  });

  test.each([
    undefined,
    "",
    "customer/7",
    "lower case",
    "SELECT 1",
    1234567,
    1.5,
    { secret: 1 },
    Object.create(null),
    Symbol("x"),
  ])("%o is none, and is left out", (code) => {
    expect(InfraError.transient({ ...lost, code: code as string }).code).toBe(undefined);
  });

  test.each(["", "a b", ".load", "acquire.", "a.b.c.d.e", "logs/2026", undefined, 7])("%o is no label", (operation) => {
    expect(() => InfraError.transient({ ...lost, operation: operation as "acquire" })).toThrow(InvariantViolation);
  });

  test.each(["", "x".repeat(257), undefined, 7])("%o is no sentence", (message) => {
    expect(() => InfraError.transient({ ...lost, message: message as "lost" })).toThrow(InvariantViolation);
  });
});
