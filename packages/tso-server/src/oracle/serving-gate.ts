import { ok, type Result } from "@gossip/stdx";
import { WindowAllocator, type LeadershipWindow, type SeedError } from "@gossip/tso";
import { foreverMs, type ServesUntil } from "../driver/leader-state.ts";
import type { MonotonicClock } from "../time/system-time.ts";
import type { GetTsError, LeaderHint, ServingState } from "./get-ts-error.ts";

/**
 * The allocator and whether it may be used, which change together.
 *
 * `serve` and `leave` are the only ways in and out. Leaving empties the allocator before any caller learns of
 * it, so that nothing can be granted after the news; entering publishes after the window is in place.
 */
export class ServingGate {
  readonly allocator: WindowAllocator = new WindowAllocator();
  readonly #monotonicClock: MonotonicClock;
  readonly #listeners = new Set<(state: ServingState) => void>();
  #state: ServingState = { kind: "NotServing" };
  #servesUntilMs: ServesUntil = foreverMs;

  constructor(monotonicClock: MonotonicClock) {
    this.#monotonicClock = monotonicClock;
  }

  get state(): ServingState {
    return this.#state;
  }

  /**
   * Whether the leadership's deadline still lies ahead. Asked after a grant and before its answer: if it holds then,
   * the grant happened while no other node could have been leader.
   */
  get isWithinDeadline(): boolean {
    return this.#monotonicClock.nowMs() < this.#servesUntilMs();
  }

  /** Whether a request that arrives now is likely to be granted. */
  get isServing(): boolean {
    return this.#state.kind === "Serving" && this.isWithinDeadline;
  }

  serve(window: LeadershipWindow, servesUntilMs: ServesUntil): Result<void, SeedError> {
    const seeded = this.allocator.seed(window);
    if (!seeded.ok) return seeded;
    this.#servesUntilMs = servesUntilMs;
    this.#publish({ kind: "Serving", epoch: window.epoch });
    return ok();
  }

  leave(hint: LeaderHint = {}): void {
    this.allocator.stepDown();
    this.#publish({ kind: "NotServing", ...hint });
  }

  /** The response to a request that reached the wrong node. */
  refusal(): GetTsError {
    if (this.#state.kind === "Serving") return { kind: "NotLeader" };
    return { ...this.#state, kind: "NotLeader" };
  }

  /** Calls a listener at every change. Returns a function that stops it. */
  subscribe(listener: (state: ServingState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #publish(state: ServingState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
