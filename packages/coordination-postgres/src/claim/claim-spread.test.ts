// The spread of a shard is part of its stored claim index entry. With one wrong bit the entry would not be found, and would stay behind after a
// claim.

import { ShardId } from "@gossip/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { claimSpread } from "./claim-spread.ts";

const MASK = 2n ** 64n - 1n;

function withBigints(shard: bigint): number {
  let mixed = ((shard ^ (shard >> 30n)) * 0xbf58_476d_1ce4_e5b9n) & MASK;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d0_49bb_1331_11ebn) & MASK;
  return Number((mixed ^ (mixed >> 31n)) >> 32n);
}

test("the spread of a shard is SplitMix64 of its id, to the last bit", () => {
  const edges = fc.constantFrom(0n, 1n, 0xffffn, 0x1_0000n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n, MASK);
  fc.assert(
    fc.property(fc.oneof(edges, fc.bigInt({ min: 0n, max: MASK })), (id) => {
      expect(claimSpread(ShardId.fromRaw(id))).toBe(withBigints(id));
    }),
    { numRuns: 5000 },
  );
});
