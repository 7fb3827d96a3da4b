import type { LogicalTime } from "@gossip/contracts";

/** What time it is for the coordinator, as far as the leases it gave let one tell. */
export class CoordinatorTime {
  #offsetMs: number | undefined;

  /** A lease was given or renewed just now, for this long. */
  observe({
    deadline,
    leaseMs,
    nowMs,
  }: {
    readonly deadline: LogicalTime;
    readonly leaseMs: number;
    readonly nowMs: number;
  }): void {
    this.#offsetMs = Number(deadline) - leaseMs - nowMs;
  }

  /** How long it is until then; `undefined` where there is no time, or no lease was seen yet. */
  untilMs(deadline: LogicalTime | undefined, nowMs: number): number | undefined {
    if (deadline === undefined || this.#offsetMs === undefined) return undefined;
    return Number(deadline) - this.#offsetMs - nowMs;
  }
}
