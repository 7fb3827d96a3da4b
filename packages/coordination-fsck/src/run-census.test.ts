// The census is the only witness of a record that has vanished without a trace. It must follow every change of the set of ids, and nothing
// else; and what it says is stored, so it must say the same in every version.

import { ShardId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RunCensus } from "./run-census.ts";

// Dense, so that ids collide and neighbor.
const ids = fc.uniqueArray(fc.bigInt({ min: 0n, max: 40n }), { maxLength: 20 });
const of = (raw: readonly bigint[]) => RunCensus.of(raw.map((id) => ShardId.fromRaw(id)));

describe("RunCensus", () => {
  test("of two sets of ids are equal exactly when the sets are", () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const isSameSet = a.length === b.length && a.every((id) => b.includes(id));
        expect(RunCensus.isEqual(of(a), of(b))).toBe(isSameSet);
      }),
    );
  });

  test("does not depend on the order in which shards came, nor on how they were grouped", () => {
    fc.assert(
      fc.property(ids, fc.nat(20), (a, at) => {
        const parts = RunCensus.sum(of(a.slice(at)), of(a.slice(0, at)));
        expect(parts).toEqual(of(a));
        expect(RunCensus.sum(RunCensus.NONE, parts)).toEqual(of(a.toReversed()));
      }),
    );
  });

  test("notices that one id took the place of another, at the far ends too", () => {
    const max = (1n << 64n) - 1n;
    expect(of([0n, max]).digest).not.toBe(of([0n, max - 1n]).digest);
    expect(of([1n, 2n]).digest).not.toBe(of([0n, 3n]).digest);
  });

  test("comes back from its bytes, which never change", () => {
    fc.assert(
      fc.property(ids, (a) => {
        expect(RunCensus.tryFromBytes(RunCensus.toBytes(of(a)))).toEqual(of(a));
      }),
    );
    expect(Buffer.from(RunCensus.toBytes(of([0n, 1n, 1n << 63n]))).toString("hex")).toBe(
      "0000000000000003bb4996c816ca1e4b",
    );
  });

  test("bytes that are no census give none", () => {
    expect(RunCensus.tryFromBytes(new Uint8Array(15))).toBeUndefined();
    expect(RunCensus.tryFromBytes(new Uint8Array(17))).toBeUndefined();
    expect(RunCensus.tryFromBytes(new Uint8Array(16).fill(0xff))).toBeUndefined();
  });

  test.each([
    { count: -1, digest: 0n },
    { count: 1.5, digest: 0n },
    { count: 0, digest: -1n },
    { count: 0, digest: 1n << 64n },
  ])("throws when %o is written", (census) => {
    expect(() => RunCensus.toBytes(census)).toThrow(InvariantViolation);
  });
});
