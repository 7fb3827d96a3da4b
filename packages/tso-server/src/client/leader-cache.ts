import type { Epoch } from "@gossip/tso";
import type { LeaderHint } from "../oracle/get-ts-error.ts";
import type { MonotonicClock } from "../time/system-time.ts";
import type { ClientEndpoint } from "./endpoint.ts";

export interface KnownLeader {
  readonly endpoint: ClientEndpoint;
  readonly epoch: Epoch | undefined;
}

/**
 * Who led last, as far as this client knows. It only moves forward: news of an older leadership, which may have
 * been under way for long, does not replace a newer one that is still fresh.
 */
export class LeaderCache {
  readonly #monotonicClock: MonotonicClock;
  readonly #ttlMs: number;
  #leader: KnownLeader | undefined;
  #learnedAtMs = 0;
  #lastGranter: ClientEndpoint | undefined;

  constructor(monotonicClock: MonotonicClock, ttlMs: number) {
    this.#monotonicClock = monotonicClock;
    this.#ttlMs = ttlMs;
  }

  /** The leader, if it was learned recently. */
  get fresh(): KnownLeader | undefined {
    if (this.#leader !== undefined && this.#monotonicClock.nowMs() - this.#learnedAtMs >= this.#ttlMs)
      this.#leader = undefined;
    return this.#leader;
  }

  /** An endpoint granted. Answers whether another one had, the last time. */
  confirm(endpoint: ClientEndpoint, epoch: Epoch): boolean {
    const known = this.fresh;
    if (known === undefined || known.endpoint === endpoint) this.#set(endpoint, greater(known?.epoch, epoch));
    else if (known.epoch !== undefined && epoch >= known.epoch) this.#set(endpoint, epoch);
    const isPivot = this.#lastGranter !== undefined && this.#lastGranter !== endpoint;
    this.#lastGranter = endpoint;
    return isPivot;
  }

  /** Follow a hint, unless what is known outranks it. A hint without an epoch is followed only to a configured endpoint. */
  follow(hint: LeaderHint & { readonly leaderEndpoint: ClientEndpoint }, isConfigured: boolean): boolean {
    const known = this.fresh;
    const { leaderEndpoint, leaderEpoch } = hint;
    if (known !== undefined && known.endpoint !== leaderEndpoint) {
      if (leaderEpoch === undefined ? !isConfigured : known.epoch !== undefined && leaderEpoch < known.epoch)
        return false;
    }
    this.#set(leaderEndpoint, known?.endpoint === leaderEndpoint ? greater(known.epoch, leaderEpoch) : leaderEpoch);
    return true;
  }

  /** It does not lead any more, or worse. */
  forget(endpoint: ClientEndpoint): void {
    if (this.#leader?.endpoint === endpoint) this.#leader = undefined;
  }

  #set(endpoint: ClientEndpoint, epoch: Epoch | undefined): void {
    this.#leader = { endpoint, epoch };
    this.#learnedAtMs = this.#monotonicClock.nowMs();
  }
}

function greater(a: Epoch | undefined, b: Epoch | undefined): Epoch | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
