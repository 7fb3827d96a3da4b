import { err, ok, type Result } from "@gossip/stdx";
import { WindowGrant, type Timestamp } from "@gossip/tso";
import type { Gauge, Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock } from "../time/system-time.ts";
import type { ClientError } from "./client-error.ts";

/** A caller that waits for one timestamp, or for several. */
type Waiter =
  | { readonly count: 1; readonly resolveOne: (result: Result<Timestamp, ClientError>) => void; readonly resolveMany: undefined }
  | { readonly count: number; readonly resolveOne: undefined; readonly resolveMany: (result: Result<WindowGrant, ClientError>) => void };

/** The callers, in the order in which they came. */
export class CallQueue {
  readonly #maxWaiting: number;
  readonly #depth: Gauge;
  readonly #monotonicClock: MonotonicClock;
  #waiters: Waiter[] = [];
  #count = 0;
  #oldestAtMs = 0;

  constructor(options: { readonly maxWaiting: number; readonly metrics: Metrics; readonly monotonicClock: MonotonicClock }) {
    this.#maxWaiting = options.maxWaiting;
    this.#depth = options.metrics.gauge("tsoracle.client.driver.queue_depth");
    this.#monotonicClock = options.monotonicClock;
  }

  addOne(): Promise<Result<Timestamp, ClientError>> {
    if (this.#waiters.length >= this.#maxWaiting) return Promise.resolve(err({ kind: "Overloaded", maxWaiting: this.#maxWaiting }));
    return new Promise((resolveOne) => this.#add({ count: 1, resolveOne, resolveMany: undefined }));
  }

  addMany(count: number): Promise<Result<WindowGrant, ClientError>> {
    if (this.#waiters.length >= this.#maxWaiting) return Promise.resolve(err({ kind: "Overloaded", maxWaiting: this.#maxWaiting }));
    return new Promise((resolveMany) => this.#add({ count, resolveOne: undefined, resolveMany }));
  }

  /** The first callers, as many as one request can serve. */
  takeBatch(maxCount: number): Batch | undefined {
    const waiters = this.#waiters;
    if (waiters.length === 0) return undefined;
    let count = this.#count;
    let taken = waiters.length;
    if (count > maxCount) {
      count = 0;
      for (taken = 0; count + waiters[taken]!.count <= maxCount; taken++) count += waiters[taken]!.count;
    }
    this.#waiters = taken === waiters.length ? [] : waiters.slice(taken);
    this.#count -= count;
    this.#depth.value = this.#waiters.length;
    return new Batch(taken === waiters.length ? waiters : waiters.slice(0, taken), count, this.#oldestAtMs);
  }

  refuseAll(error: ClientError): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#count = 0;
    this.#depth.value = 0;
    new Batch(waiters, 0, 0).refuse(error);
  }

  #add(waiter: Waiter): void {
    if (this.#waiters.length === 0) this.#oldestAtMs = this.#monotonicClock.nowMs();
    this.#waiters.push(waiter);
    this.#count += waiter.count;
    this.#depth.value = this.#waiters.length;
  }
}

/** Callers that share a request. */
export class Batch {
  readonly count: number;
  /** When the first of them asked. */
  readonly askedAtMs: number;
  readonly #waiters: readonly Waiter[];

  constructor(waiters: readonly Waiter[], count: number, askedAtMs: number) {
    this.#waiters = waiters;
    this.count = count;
    this.askedAtMs = askedAtMs;
  }

  /** Cut the grant into what each caller asked for, first come first. */
  deliver(grant: WindowGrant): void {
    const { physicalMs, epoch } = grant;
    const first: bigint = WindowGrant.first(grant);
    let used = 0;
    for (const waiter of this.#waiters) {
      // One bigint addition a caller: packing anew would cost three operations.
      if (waiter.resolveMany === undefined) waiter.resolveOne(ok((first + BigInt(used)) as Timestamp));
      else waiter.resolveMany(ok({ physicalMs, logicalStart: grant.logicalStart + used, count: waiter.count, epoch }));
      used += waiter.count;
    }
  }

  refuse(error: ClientError): void {
    for (const waiter of this.#waiters) {
      if (waiter.resolveMany === undefined) waiter.resolveOne(err(error));
      else waiter.resolveMany(err(error));
    }
  }
}
