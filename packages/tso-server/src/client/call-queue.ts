import { err, ok, type Result } from "@gossip/stdx";
import { WindowGrant, type Timestamp } from "@gossip/tso";
import type { Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock } from "../time/system-time.ts";
import type { ClientError } from "./client-error.ts";

type ResolveOne = (result: Result<Timestamp, ClientError>) => void;

interface WaitsForMany {
  readonly count: number;
  readonly resolve: (result: Result<WindowGrant, ClientError>) => void;
}

/** A waiting caller. Most want one timestamp, and then only the callback needs to be kept. */
type Waiter = ResolveOne | WaitsForMany;

/** The callers, in the order in which they came. */
export class CallQueue {
  readonly #maxWaiting: number;
  readonly #monotonicClock: MonotonicClock;
  #waiters: Waiter[] = [];
  #count = 0;
  #oldestAtMs = 0;
  // One function for all callers, so that asking does not make one each: a promise calls it before `new` returns.
  readonly #enqueue = (resolve: ResolveOne): void => this.#add(resolve, 1);

  constructor(options: {
    readonly maxWaiting: number;
    readonly metrics: Metrics;
    readonly monotonicClock: MonotonicClock;
  }) {
    this.#maxWaiting = options.maxWaiting;
    options.metrics.gauge("tsoracle.client.driver.queue_depth").follow(() => this.#waiters.length);
    this.#monotonicClock = options.monotonicClock;
  }

  addOne(): Promise<Result<Timestamp, ClientError>> {
    if (this.#waiters.length >= this.#maxWaiting)
      return Promise.resolve(err({ kind: "Overloaded", maxWaiting: this.#maxWaiting }));
    return new Promise(this.#enqueue);
  }

  addMany(count: number): Promise<Result<WindowGrant, ClientError>> {
    if (this.#waiters.length >= this.#maxWaiting)
      return Promise.resolve(err({ kind: "Overloaded", maxWaiting: this.#maxWaiting }));
    return new Promise((resolve) => this.#add({ count, resolve }, count));
  }

  /** The first callers, as many as one request can serve. */
  takeBatch(maxCount: number): Batch | undefined {
    const waiters = this.#waiters;
    if (waiters.length === 0) return undefined;
    let count = this.#count;
    let taken = waiters.length;
    if (count > maxCount) {
      count = 0;
      for (taken = 0; count + countOf(waiters[taken]!) <= maxCount; taken++) count += countOf(waiters[taken]!);
    }
    this.#waiters = taken === waiters.length ? [] : waiters.slice(taken);
    this.#count -= count;
    return new Batch({
      waiters: taken === waiters.length ? waiters : waiters.slice(0, taken),
      count,
      askedAtMs: this.#oldestAtMs,
    });
  }

  refuseAll(error: ClientError): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#count = 0;
    new Batch({ waiters, count: 0, askedAtMs: 0 }).refuse(error);
  }

  #add(waiter: Waiter, count: number): void {
    if (this.#waiters.length === 0) this.#oldestAtMs = this.#monotonicClock.nowMs();
    this.#waiters.push(waiter);
    this.#count += count;
  }
}

/** Callers that share a request. */
export class Batch {
  readonly count: number;
  /** When the first of them asked. */
  readonly askedAtMs: number;
  readonly #waiters: readonly Waiter[];

  constructor(parts: { readonly waiters: readonly Waiter[]; readonly count: number; readonly askedAtMs: number }) {
    this.#waiters = parts.waiters;
    this.count = parts.count;
    this.askedAtMs = parts.askedAtMs;
  }

  /** Cut the grant into what each caller asked for, first come first. */
  deliver(grant: WindowGrant): void {
    const { physicalMs, epoch } = grant;
    const first: bigint = WindowGrant.first(grant);
    let used = 0;
    for (const waiter of this.#waiters) {
      if (typeof waiter === "function") {
        // One addition a caller: packing anew would take three operations on bigints.
        waiter(ok((first + BigInt(used)) as Timestamp));
        used += 1;
      } else {
        waiter.resolve(ok({ physicalMs, logicalStart: grant.logicalStart + used, count: waiter.count, epoch }));
        used += waiter.count;
      }
    }
  }

  refuse(error: ClientError): void {
    for (const waiter of this.#waiters) {
      if (typeof waiter === "function") waiter(err(error));
      else waiter.resolve(err(error));
    }
  }
}

function countOf(waiter: Waiter): number {
  return typeof waiter === "function" ? 1 : waiter.count;
}
