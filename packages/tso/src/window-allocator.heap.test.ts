// The bulk form exists for loops that must not feed the collector. An object a grant would
// come back unnoticed: everything still works, only slower and with pauses.
import { expect, test } from "vitest";
import { Epoch } from "./epoch.ts";
import { TimestampBuf } from "./timestamp-buf.ts";
import { WindowAllocator } from "./window-allocator.ts";

const NOW_MS = 1_700_000_000_000;
const CALLS = 200_000;

test("a grant into a buffer allocates nothing", () => {
  const allocator = new WindowAllocator();
  expect(allocator.seed({ floorMs: NOW_MS, ceilingMs: NOW_MS * 2, epoch: Epoch.ZERO }).ok).toBe(true);
  const buf = new TimestampBuf(CALLS);
  function fill(): number {
    buf.clear();
    let granted = 0;
    for (let call = 0; call < CALLS; call++) if (allocator.tryGrantInto(NOW_MS, 1, buf).ok) granted++;
    return granted;
  }
  for (let round = 0; round < 3; round++) expect(fill()).toBe(CALLS);

  const before = process.memoryUsage().heapUsed;
  fill();
  const bytes = process.memoryUsage().heapUsed - before;

  // The least object is 16 bytes; measuring itself costs a few thousand in all.
  expect(bytes / CALLS).toBeLessThan(8);
});
