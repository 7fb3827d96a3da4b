// The in-memory store is what every other store is measured by: a rule that it gets wrong, all of them will.

import { describe, expect, test } from "vitest";
import { describeCoordinationStore } from "../testing/index.ts";
import { FaultInjectingStore } from "../testing/fault-injecting-store.ts";
import { MemoryStore } from "./memory-store.ts";

// A small slab each: a hundred of the default size would keep the collector busy.
const slabCapacity = 4 * 1024 * 1024;

describeCoordinationStore("MemoryStore", () => ({ store: new MemoryStore({ slabCapacity }) }), {
  describe,
  expect,
  test,
});

// The same through promises and a turn of the event loop at each step: what waits must change nothing.
describeCoordinationStore(
  "MemoryStore behind a slow connection",
  () => ({ store: new FaultInjectingStore(new MemoryStore({ slabCapacity }), { delay: () => Promise.resolve() }) }),
  { describe, expect, test },
);
