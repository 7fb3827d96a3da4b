import type { Clock, LogicalTime } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/**
 * A clock over the machine's: pass `Date.now`.
 *
 * It never steps back: if the machine's clock does, this one stands still until that has caught up. Use it on one
 * machine. The machines of a fleet, whose clocks differ, should read one clock: see `@gossip/tso`.
 */
export function systemClock(readMs: () => number): Clock {
  assert(
    typeof readMs === "function",
    () => `the clock's source must be a function such as Date.now, got ${typeof readMs}`,
  );
  let latestMs = 0;
  let latest = 0n as LogicalTime;

  return {
    now() {
      const ms = Math.floor(readMs());
      assert(Number.isSafeInteger(ms) && ms > 0, "the clock's source must give milliseconds since 1970");
      // Creating a bigint costs more than the rest of this function, and many readings fall into the same millisecond.
      if (ms > latestMs) {
        latestMs = ms;
        latest = BigInt(ms) as LogicalTime;
      }
      return latest;
    },
  };
}
