import { hostname } from "node:os";
import { LogicalTime, type ShardId, type WorkerId } from "@gossip/contracts";
import type { CoordinatorApi, RunRequest } from "@gossip/coordination";
import type { WorkerTime } from "../time/worker-time.ts";

/** How long an entry of the registry lasts unless it is renewed. */
const TTL_MS = 30_000;
/** The longest time between two renewals. Each is up to a quarter earlier, so that workers started together spread out. */
const RENEW_MS = TTL_MS / 3;
/** How long the end of the work may wait for the entry to be removed. */
const MAX_CLOSE_MS = 2000;

export interface RegistrationOptions {
  readonly coordinator: CoordinatorApi;
  readonly run: RunRequest;
  readonly worker: WorkerId;
  /** For people. Default: the host and the process id. */
  readonly name: string;
  readonly version: string;
  readonly time: WorkerTime;
  /** What the worker holds and has done. */
  readonly state: () => { readonly shards: readonly ShardId[]; readonly items: number };
}

/** The name of this process unless it has another one. */
export function defaultWorkerName(): string {
  return `${hostname()}:${process.pid}`;
}

/**
 * Keeps the entry of this worker in the registry of its run. The registry is advisory, so a failure to write it is
 * ignored: the next renewal tries again.
 */
export class Registration {
  readonly #options: RegistrationOptions;
  readonly #startedAt = LogicalTime.fromRaw(BigInt(Date.now()));
  #cancel: (() => void) | undefined;
  #before: { readonly ms: number; readonly items: number };
  #writing: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#before = { ms: options.time.nowMs(), items: 0 };
    this.#renew();
  }

  /** Stop renewing the entry. It expires by itself. */
  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  /** Remove the entry, but do not wait long for a slow store: the entry also expires by itself. */
  async close(): Promise<void> {
    this.stop();
    const { time } = this.#options;
    let cancel = (): void => undefined;
    const limit = new Promise<void>((resolve) => (cancel = time.startTimer(MAX_CLOSE_MS, resolve)));
    await Promise.race([this.#remove(), limit]);
    cancel();
  }

  async #remove(): Promise<void> {
    const { coordinator, run, worker } = this.#options;
    // A write that is in flight would bring the entry back.
    await this.#writing;
    // An entry that stays expires.
    void (await coordinator.unregisterWorker({ ...run, worker }));
  }

  #renew(): void {
    if (this.#isOver) return;
    this.#writing = this.#write();
    const { time } = this.#options;
    this.#cancel = time.startTimer(RENEW_MS * (1 - time.random() / 4), () => this.#renew());
  }

  async #write(): Promise<void> {
    const { coordinator, run, worker, name, version, time, state } = this.#options;
    const { shards, items } = state();
    const [ms, before] = [time.nowMs(), this.#before];
    this.#before = { ms, items };
    const itemsPerSecond = ms > before.ms ? (1000 * (items - before.items)) / (ms - before.ms) : undefined;
    const info = {
      name,
      host: hostname(),
      pid: process.pid,
      version,
      startedAt: this.#startedAt,
      shards,
      itemCount: items,
      itemsPerSecond,
    };
    // Advisory: work goes on without an entry, and the next renewal tries again.
    void (await coordinator.registerWorker({ ...run, worker, info, ttl: BigInt(TTL_MS) }));
  }
}
