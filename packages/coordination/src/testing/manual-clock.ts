import { LogicalTime, type Clock } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** A clock that moves only when a test moves it, also back. */
export class ManualClock implements Clock {
  #now: LogicalTime;

  /** Starts at 1 by default, the earliest valid time. */
  constructor(start: bigint = 1n) {
    this.#now = LogicalTime.fromRaw(start);
  }

  now(): LogicalTime {
    return this.#now;
  }

  set(time: bigint): void {
    this.#now = LogicalTime.fromRaw(time);
  }

  advance(ticks: bigint): void {
    assert(typeof ticks === "bigint" && ticks >= 0n, "a clock advances by zero or more; set() moves it back");
    this.#now = LogicalTime.fromRaw(this.#now + ticks);
  }
}
