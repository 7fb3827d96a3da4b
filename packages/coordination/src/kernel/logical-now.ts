import { LogicalTime } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** Throws unless `now` can be a reading of a clock. Comes before every other check of every operation. */
export function assertNow(now: LogicalTime): void {
  // The success path first: every operation begins here.
  if (typeof now === "bigint" && now > LogicalTime.ZERO && now < LogicalTime.MAX) return;
  LogicalTime.fromRaw(now);
  assert(now !== LogicalTime.ZERO, "now must not be 0: the clock is not set");
  assert(now !== LogicalTime.MAX, "now must not be 2^64 - 1, which is no time but the end of it");
}

/**
 * The time of an operation: now, or the last time of the record if that is later.
 *
 * A clock that is slow or goes back can then neither revive an expired lease nor write a log whose times go back.
 */
export function clampToRecord(now: LogicalTime, record: { readonly lastTime: LogicalTime }): LogicalTime {
  return now > record.lastTime ? now : record.lastTime;
}
