import { err, ok, type Result } from "@gossip/stdx";
import type { WindowGrant } from "@gossip/tso";
import type { RetryReason } from "../metrics/metric-names.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock, Timers } from "../time/system-time.ts";
import type { ClientError } from "./client-error.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { Outcome } from "./connection.ts";
import type { ClientEndpoint } from "./endpoint.ts";
import type { LeaderCache } from "./leader-cache.ts";
import { backoffOf, MAX_REDIRECTS_PER_CALL, MAX_REDIRECTS_PER_PASS, type RetryPolicy } from "./retry-policy.ts";

export interface SearchParts {
  readonly endpoints: readonly ClientEndpoint[];
  readonly pool: ConnectionPool;
  readonly cache: LeaderCache;
  readonly policy: RetryPolicy;
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
  readonly random: () => number;
}

/** The outcome of a grant that was offered to its callers. An accepted one has reached them. */
export type Reception = "accepted" | "below the floor" | "not what was asked for";

/** Hands a grant to its callers, if they can use it. */
export type Offer = (grant: WindowGrant, from: ClientEndpoint) => Reception;

/** An outcome; a grant among them has been offered to its callers. */
export type Received =
  | Exclude<Outcome, { readonly kind: "Granted" }>
  | { readonly kind: "Granted"; readonly reception: Reception };

/** Offer a grant in the very moment it arrives: of two that arrive together, the second must not be handed out first. */
export function receive(outcome: Outcome, from: ClientEndpoint, offer: Offer): Received {
  return outcome.kind === "Granted" ? { kind: "Granted", reception: offer(outcome.grant, from) } : outcome;
}

/** An attempt and how it ended. */
export interface Attempt {
  readonly endpoint: ClientEndpoint;
  readonly outcome: Received;
}

export interface Search {
  readonly count: number;
  readonly endsAtMs: number;
  readonly offer: Offer;
  /** An attempt that was already made. */
  readonly tried?: Attempt;
}

/** What one call has been through. */
interface Call extends Search {
  failures: number;
  redirects: number;
  rejection: ClientError | undefined;
  hasSeenElection: boolean;
  transport: ClientError | undefined;
}

/** What a sweep over the endpoints has come to. */
interface Pass {
  readonly worklist: ClientEndpoint[];
  readonly visited: Set<ClientEndpoint>;
  redirects: number;
  failures: number;
  hasSeenElection: boolean;
}

type Verdict =
  | { readonly kind: "next" }
  | { readonly kind: "end pass" }
  | { readonly kind: "settled"; readonly result: Result<void, ClientError> };

const NEXT: Verdict = { kind: "next" };
const END_PASS: Verdict = { kind: "end pass" };

/**
 * Finds a server that grants: the known leader first, then every endpoint, following hints on the way.
 *
 * As long as servers answer that an election is on, it sweeps again, until the call's time is up. Servers that cannot be
 * reached are tried once a sweep, and a sweep that reached no other server is the last.
 */
export class LeaderSearch {
  readonly #parts: SearchParts;
  readonly #offset: number;
  readonly #pausing = new Set<() => void>();
  #isClosed = false;

  constructor(parts: SearchParts) {
    this.#parts = parts;
    // Every client starts elsewhere, so that a fleet that starts together does not all ask the first one.
    this.#offset = Math.floor(parts.random() * parts.endpoints.length);
  }

  /** Get timestamps to their callers. */
  async run(search: Search): Promise<Result<void, ClientError>> {
    const call: Call = {
      ...search,
      failures: 0,
      redirects: 0,
      rejection: undefined,
      hasSeenElection: false,
      transport: undefined,
    };
    let tried = search.tried;
    for (let sweeps = 0; ; sweeps++) {
      const pass = this.#startPass();
      const swept = await this.#sweep(call, pass, tried);
      tried = undefined;
      if (swept !== undefined) return swept;
      if (!pass.hasSeenElection) return err(errorOf(call));
      call.hasSeenElection = true;
      if (!(await this.#pause(call, sweeps))) return err(errorOf(call));
    }
  }

  /** End every search that is pausing, and all others when they next would. */
  close(): void {
    this.#isClosed = true;
    for (const wake of this.#pausing) wake();
  }

  #startPass(): Pass {
    const { endpoints, cache } = this.#parts;
    const known = cache.fresh?.endpoint;
    const rotated = endpoints.map((_, index) => endpoints[(index + this.#offset) % endpoints.length]!);
    return {
      worklist: known === undefined ? rotated : [known, ...rotated],
      visited: new Set(),
      redirects: 0,
      failures: 0,
      hasSeenElection: false,
    };
  }

  async #sweep(call: Call, pass: Pass, tried: Attempt | undefined): Promise<Result<void, ClientError> | undefined> {
    let attempt = tried;
    // A server that responded need not be asked again. One that did not may have restarted, and gets a new connection.
    if (tried?.outcome.kind === "Granted" || tried?.outcome.kind === "Refused") pass.visited.add(tried.endpoint);
    for (;;) {
      if (this.#isClosed) return err({ kind: "Closed" });
      if (attempt !== undefined) {
        const verdict = await this.#weigh(call, pass, attempt.endpoint, attempt.outcome);
        if (verdict.kind === "settled") return verdict.result;
        if (verdict.kind === "end pass") return undefined;
      }
      const endpoint = pass.worklist.shift();
      if (endpoint === undefined) return undefined;
      if (this.#parts.monotonicClock.nowMs() >= call.endsAtMs) return err(errorOf(call));
      attempt = pass.visited.has(endpoint) ? undefined : { endpoint, outcome: await this.#ask(call, endpoint) };
      pass.visited.add(endpoint);
    }
  }

  #ask(call: Call, endpoint: ClientEndpoint): Promise<Received> {
    const { pool, policy, monotonicClock } = this.#parts;
    const budgetMs = Math.min(policy.attemptMs, call.endsAtMs - monotonicClock.nowMs());
    return new Promise((resolve) =>
      pool
        .get(endpoint)
        .request({ count: call.count, budgetMs }, (outcome) => resolve(receive(outcome, endpoint, call.offer))),
    );
  }

  async #weigh(call: Call, pass: Pass, endpoint: ClientEndpoint, outcome: Received): Promise<Verdict> {
    switch (outcome.kind) {
      case "Granted":
        return this.#weighGrant(pass, endpoint, outcome.reception);
      case "Failed":
        if (outcome.reason === "connect_failure")
          this.#parts.metrics.counter("tsoracle.client.connect.failures.total").add();
        call.transport = { kind: "Transport", reason: outcome.detail };
        return this.#failed(call, pass, outcome.reason);
      case "TimedOut":
        call.transport = { kind: "Transport", reason: "no answer came in time" };
        return this.#failed(call, pass, "deadline_exceeded");
      case "Refused":
        if (outcome.status === "NotLeader") return this.#weighNotLeader(call, pass, outcome);
        if (outcome.status === "Unavailable") {
          call.transport = { kind: "Rejected", status: outcome.status, reason: outcome.reason };
          return this.#failed(call, pass, "transport");
        }
        call.rejection = { kind: "Rejected", status: outcome.status, reason: outcome.reason };
        call.failures += 1;
        pass.failures += 1;
        return this.#hasAttemptsLeft(pass) ? NEXT : END_PASS;
    }
  }

  #weighGrant(pass: Pass, endpoint: ClientEndpoint, reception: Reception): Verdict {
    const { cache, metrics } = this.#parts;
    switch (reception) {
      case "not what was asked for":
        return settled(err({ kind: "Protocol", reason: "the reply is not what was asked for" }));
      case "below the floor":
        // A deposed server granted this: look for the current leader.
        metrics.counter("tsoracle.client.floor_violations.total").add();
        cache.forget(endpoint);
        pass.hasSeenElection = true;
        return NEXT;
      case "accepted":
        return settled(ok());
    }
  }

  #weighNotLeader(call: Call, pass: Pass, { hint }: Extract<Received, { kind: "Refused" }>): Verdict {
    const { cache, metrics, pool } = this.#parts;
    metrics.counter("tsoracle.client.not_leader.total").add();
    this.#countRetry("not_leader");
    if (hint === "malformed") {
      metrics.counter("tsoracle.client.leader_hint.decode_failures.total").add();
      call.rejection = { kind: "Rejected", status: "NotLeader", reason: "the leader's address is no address" };
      return NEXT;
    }
    const { leaderEndpoint } = hint;
    if (leaderEndpoint === undefined || pass.visited.has(leaderEndpoint)) {
      pass.hasSeenElection = true;
      return NEXT;
    }
    if (!cache.follow({ ...hint, leaderEndpoint }, pool.isConfigured(leaderEndpoint))) {
      metrics.counter("tsoracle.client.leader_hint.stale.total").add();
      pass.hasSeenElection = true;
      return NEXT;
    }
    call.redirects += 1;
    pass.redirects += 1;
    if (call.redirects >= MAX_REDIRECTS_PER_CALL) {
      metrics.counter("tsoracle.client.leader_redirect_total_cap.total").add();
      return settled(err({ kind: "TooManyRedirects" }));
    }
    if (pass.redirects >= MAX_REDIRECTS_PER_PASS) {
      metrics.counter("tsoracle.client.leader_redirect_cap.total").add();
      pass.hasSeenElection = true;
      return END_PASS;
    }
    pass.worklist.unshift(leaderEndpoint);
    return NEXT;
  }

  async #failed(call: Call, pass: Pass, reason: RetryReason): Promise<Verdict> {
    this.#countRetry(reason);
    call.failures += 1;
    pass.failures += 1;
    if (!(await this.#pause(call, call.failures - 1))) return settled(err(errorOf(call)));
    return this.#hasAttemptsLeft(pass) ? NEXT : END_PASS;
  }

  /** Of one sweep: an election is ridden out for as long as the call may take, however often a dead server is knocked at. */
  #hasAttemptsLeft(pass: Pass): boolean {
    return pass.failures < Math.max(this.#parts.policy.maxAttempts, this.#parts.endpoints.length);
  }

  /** Wait a while; `false` if the call's time is up by then. */
  async #pause(call: Call, failures: number): Promise<boolean> {
    const { policy, random, timers, monotonicClock } = this.#parts;
    const leftMs = call.endsAtMs - monotonicClock.nowMs();
    if (leftMs <= 0 || this.#isClosed) return false;
    const pauseMs = Math.min(backoffOf(policy, failures, random), leftMs);
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        cancel();
        this.#pausing.delete(wake);
        resolve();
      };
      const cancel = timers.after(pauseMs, wake);
      this.#pausing.add(wake);
    });
    return !this.#isClosed && monotonicClock.nowMs() < call.endsAtMs;
  }

  #countRetry(reason: RetryReason): void {
    this.#parts.metrics.counter("tsoracle.client.retries.total", `reason="${reason}"`).add();
  }
}

/** The most specific of the failures. */
function errorOf(call: Call): ClientError {
  return (
    call.rejection ??
    (call.hasSeenElection ? { kind: "NoLeader" } : (call.transport ?? { kind: "NoReachableEndpoints" }))
  );
}

function settled(result: Result<void, ClientError>): Verdict {
  return { kind: "settled", result };
}
