// Tests of every store break something in such a family, and look for a shard that is fit for it. A family that is another one each
// time has none, once in a dozen runs.

import { MemoryStore } from "@gossip/coordination";
import { expect, test } from "vitest";
import { raiseFamily } from "./raise-family.ts";

const raise = (seed: number) => raiseFamily(new MemoryStore({ slabCapacity: 1 << 20 }), { seed });

test("the same seed makes the same family, byte for byte, and another seed another", async () => {
  const [one, again, other] = [await raise(11), await raise(11), await raise(12)];
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});

test.each(Array.from({ length: 12 }, (_, seed) => seed))("there are shards of every kind (seed %i)", async (seed) => {
  const family = await raise(seed);
  expect(new Set(family.map(({ status }) => status))).toEqual(new Set(["Active", "Done", "Split", "Parked"]));
  expect(family.some(({ status, spawned }) => status !== "Split" && spawned.length > 0)).toBe(true);
});
