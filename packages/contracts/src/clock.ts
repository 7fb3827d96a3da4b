import type { LogicalTime } from "./ids/logical-time.ts";

/**
 * Where a coordinator gets its time. Callers of its operations never pass one.
 *
 * A reading is neither `LogicalTime.ZERO` nor `LogicalTime.MAX`. Every coordinator
 * of a fleet should read the same clock: a lease expires by *this* clock.
 * A clock that steps back does no harm, since a record never goes back in time, but
 * until it has caught up no lease lapses.
 *
 * A clock in this process returns at once; one that asks a server returns a
 * promise, and rejects where it has no time to give.
 */
export interface Clock {
  now(): LogicalTime | Promise<LogicalTime>;
}
