// A rule that the folder keeps differently from memory shows as an answer or as a byte of what is stored, and nowhere else.
import { expectSameAsMemory, LANES } from "@gossip/tools/store-proof";
import { test } from "vitest";
import { makeStore } from "./temporary-store.fixture.ts";

// A folder is quick, so it is asked with more seeds than servers are.
const SEEDED = [0, 10, 20, 30].flatMap((more) => LANES.map((lanes) => ({ ...lanes, seed: lanes.seed + more })));

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
