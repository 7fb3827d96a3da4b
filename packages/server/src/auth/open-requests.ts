import type { Principal } from "./principal.ts";

interface OpenRequest {
  readonly principal: Principal;
  readonly end: () => void;
}

/** How often tokens are checked: a revoked token ends within a second. */
const CHECK_MS = 400;

/**
 * Requests that stay open: streams of events, and claims that wait.
 *
 * Their tokens were valid when they began. This ends those whose token no longer is.
 */
export class OpenRequests {
  readonly #requests = new Set<OpenRequest>();
  readonly #isLive: (principal: Principal) => boolean;
  #checking: NodeJS.Timeout | undefined;

  constructor(isLive: (principal: Principal) => boolean) {
    this.#isLive = isLive;
  }

  /** Note a request. `end` is called if its token is revoked. Call the result when the request is over. */
  add(principal: Principal, end: () => void): () => void {
    const request = { principal, end };
    this.#requests.add(request);
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return () => this.#remove(request);
  }

  #check(): void {
    for (const request of this.#requests) {
      if (this.#isLive(request.principal)) continue;
      this.#remove(request);
      request.end();
    }
  }

  #remove(request: OpenRequest): void {
    this.#requests.delete(request);
    if (this.#requests.size > 0) return;
    clearInterval(this.#checking);
    this.#checking = undefined;
  }
}
