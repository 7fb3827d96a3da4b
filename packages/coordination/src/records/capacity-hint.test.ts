// A worker that reads "nothing available" as "go on" spins; the other way round it sleeps beside work.

import { expect, test } from "vitest";
import { CapacityHint } from "./capacity-hint.ts";

test("saturated means that nothing is available", () => {
  expect(CapacityHint.isSaturated(CapacityHint.ZERO)).toBe(true);
  expect(CapacityHint.isSaturated({ ...CapacityHint.ZERO, availableCount: 1 })).toBe(false);
});
