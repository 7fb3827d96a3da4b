import { assert, err, ok, type Result } from "@gossip/stdx";
import { isGrantCount, MAX_GRANT_COUNT, type Timestamp, type WindowGrant } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray } from "../assert-input.ts";
import type { InvalidEndpoint } from "../driver/peer-endpoint.ts";
import { Metrics, type Counter } from "../metrics/metrics.ts";
import { systemMonotonicClock, systemTimers, type MonotonicClock, type Timers } from "../time/system-time.ts";
import { CallQueue, type Batch } from "./call-queue.ts";
import type { ClientError } from "./client-error.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { Outcome } from "./connection.ts";
import { assertCredentials, type ClientTls } from "./dial.ts";
import { parseClientEndpoint, type ClientEndpoint } from "./endpoint.ts";
import { LeaderCache, type KnownLeader } from "./leader-cache.ts";
import { LeaderSearch, receive, type Attempt, type Reception } from "./leader-search.ts";
import { completePolicy, type RetryPolicy } from "./retry-policy.ts";

export interface ClientOptions {
  /** `host:port` or `unix:/path` of every server that may lead. */
  readonly endpoints: readonly string[];
  /** Connect over TLS. `{}` trusts the authorities that the system trusts. Unix sockets stay plain. */
  readonly tls?: ClientTls;
  /** Presented to every server. Without `tls`, anyone on the network can read it. */
  readonly token?: string;
  readonly retryPolicy?: Partial<RetryPolicy>;
  /** Requests under way at a time. Callers beyond them share the next request. */
  readonly maxInFlight?: number;
  /** Callers that may wait. One more is refused. */
  readonly maxWaiting?: number;
  readonly metrics?: Metrics;
  readonly monotonicClock?: MonotonicClock;
  readonly timers?: Timers;
  readonly random?: () => number;
}

/**
 * Timestamps from a server that leads, wherever that is. One client serves a whole process.
 *
 * Callers of one turn of the event loop share a request. Nothing is fetched in advance: a timestamp was issued after
 * its caller asked, so it is greater than every timestamp received anywhere by then.
 */
export class TimestampClient {
  readonly metrics: Metrics;
  readonly #queue: CallQueue;
  readonly #pool: ConnectionPool;
  readonly #cache: LeaderCache;
  readonly #search: LeaderSearch;
  readonly #policy: RetryPolicy;
  readonly #monotonicClock: MonotonicClock;
  readonly #maxInFlight: number;
  readonly #pivots: Counter;
  readonly #credentials: { tls: ClientTls | undefined; token: string | undefined };
  readonly #underway = new Set<Batch>();
  #isFlushScheduled = false;
  #isClosed = false;

  // The last timestamp handed out. No later reply may lie at or below it.
  #floorMs = -1;
  #floorLogical = -1;

  private constructor(options: ClientOptions, endpoints: readonly ClientEndpoint[]) {
    const { maxInFlight = 16, maxWaiting = 100_000, metrics = new Metrics(), random = Math.random } = options;
    const { monotonicClock = systemMonotonicClock, timers = systemTimers } = options;
    assert(Number.isInteger(maxInFlight) && maxInFlight > 0, "maxInFlight is a whole number, at least 1");
    assert(Number.isInteger(maxWaiting) && maxWaiting > 0, "maxWaiting is a whole number, at least 1");
    this.metrics = metrics;
    this.#maxInFlight = maxInFlight;
    this.#monotonicClock = monotonicClock;
    this.#pivots = metrics.counter("tsoracle.client.leader_pivots.total");
    metrics.gauge("tsoracle.client.driver.in_flight").follow(() => this.#underway.size);
    this.#policy = completePolicy(options.retryPolicy ?? {});
    this.#queue = new CallQueue({ maxWaiting, metrics, monotonicClock });
    this.#credentials = { tls: options.tls, token: options.token };
    assertCredentials(this.#credentials);
    this.#pool = new ConnectionPool(endpoints, {
      metrics,
      timers,
      monotonicClock,
      credentials: this.#credentials,
    });
    this.#cache = new LeaderCache(monotonicClock, this.#policy.leaderTtlMs);
    this.#search = new LeaderSearch({
      endpoints,
      pool: this.#pool,
      cache: this.#cache,
      policy: this.#policy,
      metrics,
      timers,
      monotonicClock,
      random,
    });
  }

  /** Makes a client. It connects on its first request. */
  static create(options: ClientOptions): Result<TimestampClient, InvalidEndpoint | { readonly kind: "NoEndpoints" }> {
    assertObject(options, "the options of a client");
    assertArray(options.endpoints, "the list of a client's endpoints");
    const endpoints: ClientEndpoint[] = [];
    for (const text of options.endpoints) {
      const endpoint = parseClientEndpoint(text);
      if (!endpoint.ok) return endpoint;
      if (!endpoints.includes(endpoint.value)) endpoints.push(endpoint.value);
    }
    return endpoints.length === 0 ? err({ kind: "NoEndpoints" }) : ok(new TimestampClient(options, endpoints));
  }

  /** The leader that the next request goes to first. */
  get cachedLeader(): KnownLeader | undefined {
    return this.#cache.fresh;
  }

  /** One timestamp. */
  getTs(): Promise<Result<Timestamp, ClientError>> {
    if (this.#isClosed) return Promise.resolve(err({ kind: "Closed" }));
    const asked = this.#queue.addOne();
    this.#scheduleFlush();
    return asked;
  }

  /** `count` timestamps that follow one another. */
  getTsBatch(count: number): Promise<Result<WindowGrant, ClientError>> {
    if (this.#isClosed) return Promise.resolve(err({ kind: "Closed" }));
    if (!isGrantCount(count)) return Promise.resolve(err({ kind: "InvalidCount", count }));
    const asked = this.#queue.addMany(count);
    this.#scheduleFlush();
    return asked;
  }

  /** Uses another token for new connections. Throws `InvariantViolation` if it is not a token. */
  reloadToken(token: string): void {
    assertCredentials({ tls: undefined, token });
    this.#credentials.token = token;
  }

  /** Uses other certificates for new connections. */
  reloadTls(tls: ClientTls): void {
    assertCredentials({ ...this.#credentials, tls });
    this.#credentials.tls = tls;
  }

  /** Closes the connections. Waiting callers get `Closed`. */
  close(): void {
    this.#isClosed = true;
    this.#queue.refuseAll({ kind: "Closed" });
    for (const batch of this.#underway) batch.refuse({ kind: "Closed" });
    this.#underway.clear();
    this.#search.close();
    this.#pool.close();
  }

  /** After every callback of this turn has run: all their callers share a request, and none waits for a timer. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled || this.#underway.size >= this.#maxInFlight) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#underway.size < this.#maxInFlight) {
      const batch = this.#queue.takeBatch(MAX_GRANT_COUNT);
      if (batch === undefined) break;
      this.#underway.add(batch);
      this.#dispatch(batch);
    }
  }

  #dispatch(batch: Batch): void {
    const { attemptMs, overallMs } = this.#policy;
    const endsAtMs = batch.askedAtMs + overallMs;
    const leftMs = endsAtMs - this.#monotonicClock.nowMs();
    const leader = this.#cache.fresh;
    if (leader === undefined || leftMs <= 0) {
      this.#lookFor(batch, endsAtMs);
      return;
    }
    // The common case needs no promise: ask the leader, and have an answer.
    const { endpoint } = leader;
    this.#pool
      .get(endpoint)
      .request({ count: batch.count, budgetMs: Math.min(attemptMs, leftMs) }, (outcome: Outcome) => {
        const received = receive(outcome, endpoint, (grant, from) => this.#offer(batch, grant, from));
        if (received.kind === "Granted" && received.reception === "accepted") this.#finish(batch);
        else this.#lookFor(batch, endsAtMs, { endpoint, outcome: received });
      });
  }

  #lookFor(batch: Batch, endsAtMs: number, tried?: Attempt): void {
    const search = {
      count: batch.count,
      endsAtMs,
      offer: (grant: WindowGrant, from: ClientEndpoint) => this.#offer(batch, grant, from),
      ...(tried === undefined ? {} : { tried }),
    };
    void this.#search.run(search).then((result) => {
      if (!result.ok && this.#underway.has(batch)) batch.refuse(result.error);
      this.#finish(batch);
    });
  }

  /** Passes a grant to the callers of a batch, if it is what they requested and above everything returned before. */
  #offer(batch: Batch, grant: WindowGrant, from: ClientEndpoint): Reception {
    const { physicalMs, logicalStart, count } = grant;
    if (count !== batch.count) return "not what was asked for";
    if (physicalMs < this.#floorMs || (physicalMs === this.#floorMs && logicalStart <= this.#floorLogical))
      return "below the floor";
    this.#floorMs = physicalMs;
    this.#floorLogical = logicalStart + count - 1;
    if (this.#cache.confirm(from, grant.epoch)) this.#pivots.add();
    // A batch that is no longer under way was refused when the client was closed.
    if (this.#underway.has(batch)) batch.deliver(grant);
    return "accepted";
  }

  #finish(batch: Batch): void {
    this.#underway.delete(batch);
    // Send the calls that arrived while all requests were in flight.
    this.#flush();
  }
}
