// A store that goes wrong only when a refused write comes between two that are made is found here and nowhere else.
import { effort } from "@gossip/tools/effort";
import { expectSamePort } from "@gossip/tools/store-proof";
import { test } from "vitest";
import { makeStore } from "./temporary-store.fixture.ts";

test(
  "write sets of every kind, with guards of every age, are answered as in memory and leave the same behind",
  {
    timeout: 600_000,
  },
  () => expectSamePort({ makeStore: () => makeStore(), runs: effort({ usual: 24, exploring: 240 }), maxLength: 60 }),
);
