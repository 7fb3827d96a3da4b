import { Lease, type RenewResult } from "@gossip/coordination";
import type { RenewError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { isLeaseGone } from "../runtime/lease-gone.ts";
import type { LeaseTable } from "./lease-table.ts";

export interface RenewerOptions {
  readonly table: LeaseTable;
  readonly leaseMs: number;
  /** The leases of a loop that is blocked for longer than this are no longer renewed. */
  readonly maxBlockedMs: number;
  readonly renew: (lease: Lease) => Promise<Result<RenewResult, RenewError>>;
  readonly nowMs: () => number;
}

interface Held {
  lease: Lease;
  isAsking: boolean;
}

/**
 * The fraction of a lease after which the thread renews it. The main loop does so after a third, unless it is blocked.
 */
const PATIENCE = 0.5;

/** Renews leases for another thread if that thread is late. */
export class Renewer {
  readonly #options: RenewerOptions;
  readonly #held = new Map<number, Held>();

  constructor(options: RenewerOptions) {
    this.#options = options;
  }

  /** The number of leases held. */
  get size(): number {
    return this.#held.size;
  }

  hold(slot: number, lease: Lease): void {
    this.#held.set(slot, { lease, isAsking: false });
  }

  drop(slot: number): void {
    this.#held.delete(slot);
  }

  /** Renew the leases that are due. Called several times per lease duration. */
  tick(): void {
    const { table, leaseMs, maxBlockedMs, nowMs } = this.#options;
    const now = nowMs();
    if (now - table.beatMs > maxBlockedMs) return;
    for (const [slot, held] of this.#held) {
      if (!held.isAsking && now - table.renewedMs(slot) >= leaseMs * PATIENCE) void this.#renew(slot, held, now);
    }
  }

  async #renew(slot: number, held: Held, askedMs: number): Promise<void> {
    held.isAsking = true;
    const answer = await this.#options.renew(held.lease);
    held.isAsking = false;
    // The slot may hold another lease by now.
    if (this.#held.get(slot) !== held) return;
    if (answer.ok) {
      held.lease = Lease.withDeadline(held.lease, answer.value.newDeadline);
      this.#options.table.renewed(slot, askedMs);
    } else if (isLeaseGone(answer.error) || answer.error.kind === "RunTerminal") {
      // The main loop finds out by itself as soon as it runs again.
      this.#held.delete(slot);
    }
  }
}
