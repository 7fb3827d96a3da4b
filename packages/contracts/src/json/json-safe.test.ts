// Records, errors and events end in logs and on wires. A bigint makes JSON.stringify throw in the middle of handling a
// failure; a value that is silently dropped is worse.
import { InvariantViolation, Redacted, unwrap } from "@gossip/stdx";
import { describe, expect, expectTypeOf, test } from "vitest";
import { ascii } from "../arbitraries.fixture.ts";
import { jsonError, toJsonSafe } from "./json-safe.ts";
import { ShardArena } from "../specs/shard-arena.ts";
import { ShardId } from "../ids/shard-id.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { range } from "../specs.fixture.ts";

function borrowedSpec(): ShardSpecRef {
  const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 64 });
  return arena.viewSpec(unwrap(arena.allocSpec(range("a", "b"))));
}

describe("toJsonSafe", () => {
  test("writes ids as 16 hex digits and bytes as base64url, at any depth", () => {
    const value = {
      kind: "Event",
      shard: ShardId.fromRaw(255n),
      keys: [ascii("a"), Buffer.from("ab"), ascii("")],
      nested: { deep: [{ id: 1n }], flag: true, none: null, size: 3 },
    };
    expect(toJsonSafe(value)).toEqual({
      kind: "Event",
      shard: "00000000000000ff",
      keys: ["YQ", "YWI", ""],
      nested: { deep: [{ id: "0000000000000001" }], flag: true, none: null, size: 3 },
    });
    expect(() => JSON.stringify(toJsonSafe(value))).not.toThrow();
  });

  test("leaves out what is undefined, and keeps redaction", () => {
    expect(toJsonSafe({ token: undefined, hash: new Redacted(7n) })).toEqual({ hash: "<redacted>" });
    expect("token" in toJsonSafe({ token: undefined })).toBe(false);
  });

  test("does not change what it was given", () => {
    const value = Object.freeze({ id: 1n });
    toJsonSafe(value);
    expect(value).toEqual({ id: 1n });
  });

  test("keeps a field that is named like a prototype", () => {
    const value = JSON.parse('{"__proto__": 1}') as object;
    expect(JSON.stringify(toJsonSafe(value))).toBe('{"__proto__":1}');
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  test.each([
    { name: "a number that is none", value: Number.NaN },
    { name: "an infinite number", value: [Number.POSITIVE_INFINITY] },
    { name: "a negative bigint", value: { id: -1n } },
    { name: "a bigint above 64 bits", value: 1n << 64n },
    { name: "a function", value: { f: () => 1 } },
    { name: "a symbol", value: Symbol("s") },
    { name: "a cycle", value: cycle },
    { name: "a map", value: { map: new Map([[1, 2]]) } },
    { name: "a borrowed spec", value: borrowedSpec() },
  ])("refuses $name", ({ value }) => {
    expect(() => toJsonSafe(value)).toThrow(InvariantViolation);
  });

  test("writes one object twice where it occurs twice", () => {
    const shared = { id: 1n };
    expect(toJsonSafe([shared, shared])).toEqual([{ id: "0000000000000001" }, { id: "0000000000000001" }]);
  });

  test("has a type that says so", () => {
    const safe = toJsonSafe({ id: ShardId.fromRaw(1n), key: ascii("a"), size: 1, hash: new Redacted(1n) });
    expectTypeOf(safe).toEqualTypeOf<{
      readonly id: string;
      readonly key: string;
      readonly size: number;
      readonly hash: string;
    }>();
  });
});

describe("jsonError", () => {
  const error = jsonError({ kind: "DuplicateIds", shardId: ShardId.fromRaw(9n) });

  test("is written by JSON.stringify, at the top and inside", () => {
    expect(JSON.stringify(error)).toBe('{"kind":"DuplicateIds","shardId":"0000000000000009"}');
    expect(JSON.stringify({ cause: [error] })).toContain('"0000000000000009"');
    expect(toJsonSafe({ cause: error })).toEqual({ cause: { kind: "DuplicateIds", shardId: "0000000000000009" } });
  });

  test("has its own fields only, and keeps them when cloned", () => {
    expect(Object.keys(error)).toEqual(["kind", "shardId"]);
    expect(structuredClone(error)).toEqual({ kind: "DuplicateIds", shardId: 9n });
    expect({ ...error }).toEqual({ kind: "DuplicateIds", shardId: 9n });
  });
});
