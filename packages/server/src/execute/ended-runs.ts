import type { RunId, TenantId } from "@gossip/contracts";

/** How many ended runs are remembered. One that is forgotten only loses its signal: renewals are refused anyway. */
const CAPACITY = 10_000;

/** The runs that ended lately, so that their workers learn of it with their next response. */
export class EndedRuns {
  readonly #runs = new Set<string>();

  add(tenant: TenantId, run: RunId): void {
    this.#runs.add(`${tenant}${run}`);
    if (this.#runs.size <= CAPACITY) return;
    for (const oldest of this.#runs) {
      this.#runs.delete(oldest);
      return;
    }
  }

  has(tenant: TenantId, run: RunId): boolean {
    return this.#runs.size > 0 && this.#runs.has(`${tenant}${run}`);
  }
}
