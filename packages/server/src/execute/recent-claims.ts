import type { ClaimManyRequest, WorkerSession } from "@gossip/coordination";
import type { ClaimError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { isFailure, type Failure } from "./failure.ts";

type Claimed = Result<readonly WorkerSession[], ClaimError> | Failure;

/** How many claims are remembered. One that is forgotten is recognized by `isRepeat` instead. */
const CAPACITY = 10_000;

/**
 * The claims that this node is executing or has executed lately, by worker and op id.
 *
 * A claim that arrives twice must not take other shards the second time. While the first is executed, the second gets
 * the same result; after it, the second is executed as a repetition. This is a convenience for clients that do not say
 * that they repeat: the leases themselves are what a repetition goes by.
 */
export class RecentClaims {
  readonly #pending = new Map<string, Promise<Claimed>>();
  readonly #granted = new Set<string>();

  async join(request: ClaimManyRequest, execute: (isRepeat: boolean) => Promise<Claimed>): Promise<Claimed> {
    const key = `${request.tenant}${request.run}.${request.worker}.${request.opId}`;
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const executing = execute(request.isRepeat === true || this.#granted.has(key));
    this.#pending.set(key, executing);
    try {
      const claimed = await executing;
      if (!isFailure(claimed) && claimed.ok) this.#remember(key);
      return claimed;
    } finally {
      this.#pending.delete(key);
    }
  }

  #remember(key: string): void {
    this.#granted.add(key);
    if (this.#granted.size <= CAPACITY) return;
    for (const oldest of this.#granted) {
      this.#granted.delete(oldest);
      return;
    }
  }
}
