// A shard key's text is the key of maps: two keys that shared a text would share a record.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { u64 } from "../arbitraries.fixture.ts";
import { RunId } from "./run-id.ts";
import { ShardId } from "./shard-id.ts";
import { ShardKey } from "./shard-key.ts";

const shardKey = fc.tuple(u64, u64).map(([run, shard]) => ShardKey.of(RunId.fromRaw(run), ShardId.fromRaw(shard)));

describe("ShardKey", () => {
  test("has equal texts exactly for equal keys", () => {
    fc.assert(
      fc.property(shardKey, shardKey, (a, b) => {
        const areSame = a.run === b.run && a.shard === b.shard;
        expect(ShardKey.equals(a, b)).toBe(areSame);
        expect(ShardKey.format(a) === ShardKey.format(b)).toBe(areSame);
      }),
    );
  });

  test("does not mix up run and shard", () => {
    const key = ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(2n));

    expect(key).toEqual({ run: 1n, shard: 2n });
    expect(ShardKey.format(key)).toBe("0000000000000001/0000000000000002");
    expect(ShardKey.equals(key, ShardKey.of(RunId.fromRaw(2n), ShardId.fromRaw(1n)))).toBe(false);
  });

  test.each([undefined, null, "1/2", {}, { run: 1n }, { run: 1n, shard: 2 }])("refuses %o", (bad) => {
    const key = ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(2n));
    expect(() => ShardKey.format(bad as ShardKey)).toThrow(InvariantViolation);
    expect(() => ShardKey.equals(key, bad as ShardKey)).toThrow(InvariantViolation);
    expect(() => ShardKey.equals(bad as ShardKey, key)).toThrow(InvariantViolation);
  });
});
