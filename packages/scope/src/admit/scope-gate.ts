import { err, ok, type Result } from "@gossip/stdx";
import { Admission, InFlight } from "./in-flight.ts";
import type { Misdirected, Quiesced, Routing, Unavailable, Unknown } from "../route/routing.ts";
import type { IsDown, ScopeRouter } from "../route/scope-router.ts";
import type { Bytes } from "../text-bytes.ts";

/** Why a key is not admitted. `Unknown` only if such keys are refused. */
export type Refusal = Misdirected | Quiesced | Unavailable | Unknown;

interface ScopeGateOptions {
  readonly self: string;
  readonly isDown: IsDown | undefined;
  readonly admitsUnknown: boolean;
}

interface Waiter {
  readonly prefix: Uint8Array;
  readonly resolve: () => void;
}

/**
 * Admits operations and counts them until they are released.
 *
 * Deciding and counting are one synchronous step, so ownership cannot change in between.
 */
export class ScopeGate {
  readonly #options: ScopeGateOptions;
  readonly #inFlight: InFlight;
  #router: ScopeRouter;
  #waiters: Waiter[] = [];
  // One function for all admissions: it only checks whether a caller waits.
  readonly #onRelease = (): void => this.#wake();

  constructor(router: ScopeRouter, options: ScopeGateOptions) {
    this.#router = router;
    this.#options = options;
    this.#inFlight = new InFlight(router.index);
  }

  /** Use this router from now on. Operations in flight stay counted. */
  follow(router: ScopeRouter): void {
    this.#router = router;
    this.#inFlight.follow(router.index);
  }

  route(key: Bytes): Routing {
    return this.#verdictAt(this.#router.index.find(key));
  }

  admit(key: Bytes): Result<Admission, Refusal> {
    const position = this.#router.index.find(key);
    const verdict = this.#verdictAt(position);
    const isAdmitted = verdict.kind === "Owned" || (verdict.kind === "Unknown" && this.#options.admitsUnknown);
    return isAdmitted ? ok(new Admission(verdict, this.#inFlight.counterAt(position), this.#onRelease)) : err(verdict);
  }

  inFlight(prefix: Uint8Array): number {
    return this.#inFlight.count(prefix);
  }

  whenDrained(prefix: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ prefix, resolve });
      this.#wake();
    });
  }

  #verdictAt(position: number): Routing {
    return this.#router.verdictAt(position, this.#options.self, this.#options.isDown);
  }

  #wake(): void {
    if (this.#waiters.length === 0) return;
    this.#waiters = this.#waiters.filter(({ prefix, resolve }) => {
      if (this.#inFlight.count(prefix) > 0) return true;
      resolve();
      return false;
    });
  }
}
