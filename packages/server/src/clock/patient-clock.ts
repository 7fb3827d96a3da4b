import type { Clock, LogicalTime } from "@gossip/contracts";
import { assertCount } from "@gossip/stdx";

/** The error of a clock that gave no time within the patience of its node. */
export class NoTime extends Error {
  override readonly name = "NoTime";

  constructor(patienceMs: number) {
    super(`the clock gave no time within ${patienceMs} ms`);
  }
}

/**
 * A clock that rejects instead of keeping its callers waiting.
 *
 * A node that has no time answers 503 and is not ready. It never goes by its own clock: that may differ by minutes from
 * the one that the deadlines of leases come from.
 */
export function patientClock(clock: Clock, patienceMs: number): Clock {
  assertCount(patienceMs, "patienceMs", { min: 1, max: 3_600_000 });
  return {
    now() {
      const reading = clock.now();
      return reading instanceof Promise ? within(reading, patienceMs) : reading;
    },
  };
}

function within(reading: Promise<LogicalTime>, patienceMs: number): Promise<LogicalTime> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoTime(patienceMs)), patienceMs);
    reading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
