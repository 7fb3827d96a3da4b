import type { LogicalTime } from "@gossip/contracts";

/** Estimates the coordinator's time from the deadlines of the leases it gave. */
export class CoordinatorTime {
  #offsetMs: number | undefined;

  /** A lease was requested or renewed at `askedMs`, and lasts until `deadline`. */
  observe({
    deadline,
    leaseMs,
    askedMs,
  }: {
    readonly deadline: LogicalTime;
    readonly leaseMs: number;
    readonly askedMs: number;
  }): void {
    this.#offsetMs = Number(deadline) - leaseMs - askedMs;
  }

  /** Milliseconds until `deadline`; `undefined` without a deadline, or before the first lease. */
  untilMs(deadline: LogicalTime | undefined, nowMs: number): number | undefined {
    if (deadline === undefined || this.#offsetMs === undefined) return undefined;
    return Number(deadline) - this.#offsetMs - nowMs;
  }
}
