// A store that deviates from the one in memory shows it in a result or in a stored byte.
import { effort } from "@gossip/tools/effort";
import { expectSameAsMemory, LANES } from "@gossip/tools/store-proof";
import { test } from "vitest";
import { makeStore } from "./temporary-store.fixture.ts";

const ADDED_TO_SEEDS = effort({ usual: [0], exploring: [0, 10, 20, 30] });
const SEEDED = ADDED_TO_SEEDS.flatMap((more) => LANES.map((lanes) => ({ ...lanes, seed: lanes.seed + more })));

test.each(SEEDED)(
  "$laneCount at a time, seed $seed: every answer and every byte is the same as in memory",
  async (lanes) => {
    const temporary = await makeStore();
    try {
      await expectSameAsMemory(temporary.store, lanes);
    } finally {
      await temporary.dispose();
    }
  },
);
