import { LogicalTime, type Clock } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** A clock that moves only when it is told to. It may be set back, to see what that does. */
export class ManualClock implements Clock {
  #now: LogicalTime;

  /** Starts at 1, the earliest time there is, where nothing else is said. */
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
