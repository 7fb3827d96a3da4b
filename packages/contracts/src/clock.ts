import type { LogicalTime } from "./ids/logical-time.ts";

/**
 * The clock of a coordinator. Callers of its operations never pass a time.
 *
 * A reading is neither `LogicalTime.ZERO` nor `LogicalTime.MAX`. Every coordinator of a fleet should read the same
 * clock: a lease expires by *this* clock. A clock that steps back does no harm, since a record never goes back in time,
 * but until it has caught up no lease lapses.
 *
 * A clock in this process returns at once; one that asks a server returns a promise, and rejects if it has no time.
 */
export interface Clock {
  now(): LogicalTime | Promise<LogicalTime>;
}
