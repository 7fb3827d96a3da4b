// These numbers are in stored records and under hashes. A number that moves turns every parked shard of a running
// fleet into something else. Do not mend this test: give a new name a new number.
import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { CursorSemantics } from "./cursor-semantics.ts";
import { DerivedShardKind } from "./derived-shard-kind.ts";
import { ParkReason } from "./park-reason.ts";
import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";
import { RunStatus } from "./run-status.ts";
import { ShardLimitScope } from "./shard-limit-scope.ts";
import { ShardStatus } from "./shard-status.ts";

const PINNED = [
  { name: "ShardStatus", table: ShardStatus, codes: { Active: 0, Done: 1, Split: 2, Parked: 3 } },
  { name: "RunStatus", table: RunStatus, codes: { Initializing: 0, Active: 1, Done: 2, Failed: 3, Cancelled: 4 } },
  {
    name: "ParkReason",
    table: ParkReason,
    codes: { PermissionDenied: 0, NotFound: 1, Poisoned: 2, TooManyErrors: 3, Other: 4 },
  },
  { name: "CursorSemantics", table: CursorSemantics, codes: { Completed: 0, Dispatched: 1 } },
  { name: "DerivedShardKind", table: DerivedShardKind, codes: { Child: 0, Residual: 1 } },
] as const;

describe.each(PINNED)("$name", ({ table, codes }) => {
  const persisted: PersistedEnum<string> = table;

  test("has the numbers that stores keep", () => {
    expect(persisted.codes).toEqual(codes);
    expect(persisted.values).toEqual(Object.keys(codes));
  });

  test("finds every name by its number, and nothing by any other", () => {
    for (const [name, code] of Object.entries(codes)) expect(persisted.fromCode(code)).toBe(name);
    for (const code of [-1, 0.5, Object.keys(codes).length, 255, Number.NaN, "0", undefined]) {
      expect(persisted.fromCode(code as number)).toBe(undefined);
    }
  });

  test("knows its own names only", () => {
    for (const name of Object.keys(codes)) expect(persisted.is(name)).toBe(true);
    for (const other of ["active", "toString", "__proto__", "", 0, null, undefined]) {
      expect(persisted.is(other)).toBe(false);
    }
  });
});

describe("terminal statuses", () => {
  test("a shard's are all but Active", () => {
    expect(ShardStatus.values.filter((status) => ShardStatus.isTerminal(status))).toEqual(["Done", "Split", "Parked"]);
    expect(() => ShardStatus.isTerminal("Leased" as ShardStatus)).toThrow(InvariantViolation);
  });

  test("a run's are its last three", () => {
    expect(RunStatus.values.filter((status) => RunStatus.isTerminal(status))).toEqual(["Done", "Failed", "Cancelled"]);
    expect(() => RunStatus.isTerminal(0 as unknown as RunStatus)).toThrow(InvariantViolation);
  });
});

describe("words", () => {
  test("a park reason is shown in lower-case words", () => {
    expect(ParkReason.values.map((reason) => ParkReason.toWords(reason))).toEqual([
      "permission denied",
      "not found",
      "poisoned",
      "too many errors",
      "other",
    ]);
    expect(() => ParkReason.toWords("valueOf" as ParkReason)).toThrow(InvariantViolation);
  });

  test("so is the scope of a shard limit", () => {
    expect(ShardLimitScope.values.map((scope) => ShardLimitScope.toWords(scope))).toEqual(["per-tenant", "global"]);
    expect(() => ShardLimitScope.toWords("Local" as ShardLimitScope)).toThrow(InvariantViolation);
  });
});

describe("persistedEnum", () => {
  test.each([{ A: 0, B: 0 }, { A: -1 }, { A: 256 }, { A: 0.5 }, { A: "0" }])("refuses %j", (codes) => {
    expect(() => persistedEnum(codes as Record<string, number>)).toThrow(InvariantViolation);
  });

  test("does not change with the table it was made of", () => {
    const codes: Record<string, number> = { A: 0, B: 7 };
    const made = persistedEnum(codes);
    codes["A"] = 9;
    expect(made.codes).toEqual({ A: 0, B: 7 });
    expect(made.fromCode(0)).toBe("A");
    expect(made.fromCode(9)).toBe(undefined);
  });
});
