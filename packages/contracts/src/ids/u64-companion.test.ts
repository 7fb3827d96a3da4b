// Ids are compared, stored and hashed as integers and shown as text. An integer that does not fit, or a text that two
// ids share, would make two shards one; a text order that differs from the id order would break every paged listing.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { u64 } from "../arbitraries.fixture.ts";
import { FenceEpoch } from "./fence-epoch.ts";
import { LogicalTime } from "./logical-time.ts";
import { OpId } from "./op-id.ts";
import { RunId } from "./run-id.ts";
import { ShardId } from "./shard-id.ts";
import type { U64Companion } from "./u64-companion.ts";
import { U64_MAX } from "./u64.ts";
import { WorkerId } from "./worker-id.ts";

const COMPANIONS: Readonly<Record<string, U64Companion<bigint>>> = {
  RunId: RunId as unknown as U64Companion<bigint>,
  ShardId: ShardId as unknown as U64Companion<bigint>,
  WorkerId: WorkerId as unknown as U64Companion<bigint>,
  OpId: OpId as unknown as U64Companion<bigint>,
  FenceEpoch: FenceEpoch as unknown as U64Companion<bigint>,
  LogicalTime: LogicalTime as unknown as U64Companion<bigint>,
};

describe.each(Object.entries(COMPANIONS))("%s", (_name, companion) => {
  test("is the integer itself", () => {
    fc.assert(
      fc.property(u64, (raw) => {
        expect(companion.fromRaw(raw)).toBe(raw);
        expect(companion.tryFromRaw(raw)).toEqual({ ok: true, value: raw });
      }),
    );
  });

  test("reads back the text it wrote", () => {
    fc.assert(
      fc.property(u64, (raw) => {
        expect(companion.parse(companion.format(raw))).toEqual({ ok: true, value: raw });
      }),
    );
  });

  test("sorts as text in the order of the ids", () => {
    fc.assert(
      fc.property(u64, u64, (a, b) => {
        expect(companion.format(a) < companion.format(b)).toBe(a < b);
      }),
    );
  });

  test.each([
    { text: "00000000000000ff", id: 255n },
    { text: "ffffffffffffffff", id: U64_MAX },
  ])("writes $id as $text", ({ text, id }) => {
    expect(companion.format(id)).toBe(text);
  });

  test.each([
    { raw: -1n, error: { kind: "NegativeInteger" }, complaint: /from 0 to 2\^64 - 1, got a negative one/ },
    { raw: U64_MAX + 1n, error: { kind: "IntegerTooLarge" }, complaint: /from 0 to 2\^64 - 1, got a larger one/ },
    {
      raw: 7,
      error: { kind: "NotABigint", given: "number" },
      complaint: /must be a bigint from 0 to 2\^64 - 1, got a value of type number/,
    },
    {
      raw: "7",
      error: { kind: "NotABigint", given: "string" },
      complaint: /must be a bigint from 0 to 2\^64 - 1, got a value of type string/,
    },
    { raw: undefined, error: { kind: "NotABigint", given: "undefined" }, complaint: /got a value of type undefined/ },
    { raw: null, error: { kind: "NotABigint", given: "object" }, complaint: /got a value of type object/ },
  ])("refuses $raw", ({ raw, error, complaint }) => {
    expect(companion.tryFromRaw(raw as bigint)).toEqual({ ok: false, error });
    expect(() => companion.fromRaw(raw as bigint)).toThrow(InvariantViolation);
    expect(() => companion.fromRaw(raw as bigint)).toThrow(complaint);
    expect(() => companion.format(raw as bigint)).toThrow(complaint);
  });

  test.each([
    { text: "", error: { kind: "WrongTextLength", length: 0, expected: 16 } },
    { text: "ff", error: { kind: "WrongTextLength", length: 2, expected: 16 } },
    { text: "00000000000000000", error: { kind: "WrongTextLength", length: 17, expected: 16 } },
    { text: "00000000000000FF", error: { kind: "NotLowercaseHex" } },
    { text: "0x000000000000ff", error: { kind: "NotLowercaseHex" } },
    { text: "000000000000000\n", error: { kind: "NotLowercaseHex" } },
    { text: "-000000000000001", error: { kind: "NotLowercaseHex" } },
    { text: 16, error: { kind: "NotAString", given: "number" } },
    { text: undefined, error: { kind: "NotAString", given: "undefined" } },
  ])("does not read $text", ({ text, error }) => {
    expect(companion.parse(text as string)).toEqual({ ok: false, error });
  });
});

describe("ShardId", () => {
  test("is derived exactly when bit 63 is set", () => {
    fc.assert(
      fc.property(u64, (raw) => {
        expect(ShardId.isDerived(ShardId.fromRaw(raw))).toBe(raw >> 63n === 1n);
      }),
    );
  });
});

describe("OpId.random", () => {
  test("draws distinct ids over the whole width", () => {
    const drawn = Array.from({ length: 1000 }, () => OpId.random());

    expect(new Set(drawn).size).toBe(1000);
    for (let bit = 0n; bit < 64n; bit++) {
      const mask = 1n << bit;
      expect(drawn.some((id) => (id & mask) !== 0n)).toBe(true);
      expect(drawn.some((id) => (id & mask) === 0n)).toBe(true);
    }
  });
});

describe("FenceEpoch", () => {
  test("starts at 1, and 0 is no epoch", () => {
    expect(FenceEpoch.INITIAL).toBe(1n);
    expect(FenceEpoch.isAssigned(FenceEpoch.ZERO)).toBe(false);
    expect(FenceEpoch.isAssigned(FenceEpoch.INITIAL)).toBe(true);
  });

  test("grows by one, and stops rather than start over", () => {
    expect(FenceEpoch.increment(FenceEpoch.INITIAL)).toBe(2n);
    expect(FenceEpoch.increment(FenceEpoch.fromRaw(U64_MAX - 1n))).toBe(U64_MAX);
    expect(() => FenceEpoch.increment(FenceEpoch.fromRaw(U64_MAX))).toThrow(InvariantViolation);
  });
});

describe("LogicalTime", () => {
  test("adds exactly, or says that it cannot", () => {
    fc.assert(
      fc.property(u64, u64, (raw, ticks) => {
        const time = LogicalTime.fromRaw(raw);
        const fits = raw + ticks <= U64_MAX;
        expect(LogicalTime.checkedAdd(time, ticks)).toBe(fits ? raw + ticks : undefined);
        expect(LogicalTime.saturatingAdd(time, ticks)).toBe(fits ? raw + ticks : LogicalTime.MAX);
      }),
    );
  });

  test.each([
    { time: U64_MAX - 1n, ticks: 1n, sum: U64_MAX },
    { time: 0n, ticks: U64_MAX, sum: U64_MAX },
    { time: U64_MAX, ticks: 0n, sum: U64_MAX },
    { time: U64_MAX, ticks: 1n, sum: undefined },
  ])("$time + $ticks is $sum", ({ time, ticks, sum }) => {
    expect(LogicalTime.checkedAdd(LogicalTime.fromRaw(time), ticks)).toBe(sum);
    expect(LogicalTime.saturatingAdd(LogicalTime.fromRaw(time), ticks)).toBe(U64_MAX);
  });

  test("refuses to add what is no number of ticks", () => {
    expect(() => LogicalTime.checkedAdd(LogicalTime.ZERO, -1n)).toThrow(/ticks to add must be a bigint from 0/);
    expect(() => LogicalTime.saturatingAdd(LogicalTime.ZERO, 1 as unknown as bigint)).toThrow(InvariantViolation);
  });
});
