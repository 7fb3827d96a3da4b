import type { Lease } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { KeepLeases } from "./keep-leases.ts";
import type { KeeperOrder, KeeperReport, KeeperStart } from "./keeper-message.ts";
import { LeaseTable, MAX_SLOTS } from "./lease-table.ts";
import { RunningItem } from "./running-item.ts";
import { sharedNowMs } from "./shared-now.ts";

const DEFAULT_MAX_BLOCKED_MS = 300_000;
/** How long a thread may take to close its store before it is terminated. */
const CLOSE_MS = 2000;
/** A lease that lasts many times as long as a thread needs to open its store. */
const LONG_LEASE_MS = 10_000;

export interface LeaseKeeperOptions {
  readonly keepLeases: KeepLeases;
  readonly leaseMs: number;
  /** The thread failed. From now on only the main loop renews. */
  readonly onFailure: (cause: unknown) => void;
}

/** The main thread's side of the thread that renews its leases. */
export class LeaseKeeper {
  readonly #worker: Worker;
  readonly #table = new LeaseTable();
  readonly #running = new RunningItem();
  readonly #freeSlots = Array.from({ length: MAX_SLOTS }, (_, index) => MAX_SLOTS - 1 - index);
  readonly #opened: Promise<void>;
  readonly #exited: Promise<void>;
  #isOver = false;

  private constructor({ keepLeases, leaseMs, onFailure }: LeaseKeeperOptions) {
    const { module, options, maxBlockedMs = DEFAULT_MAX_BLOCKED_MS, execArgv } = keepLeases;
    const workerData: KeeperStart = {
      module: nameModule(module),
      options,
      leaseMs,
      maxBlockedMs,
      table: this.#table.buffer,
      running: this.#running.buffer,
    };
    this.#table.beat(sharedNowMs());
    // The thread's file is next to this one and has the same extension: a source, a built file, or a separate file of a
    // bundle.
    const file = new URL(`./keeper-thread${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, execArgv === undefined ? { workerData } : { workerData, execArgv: [...execArgv] });
    this.#worker.unref();
    this.#worker.once("error", (cause) => {
      if (!this.#isOver) onFailure(cause);
      this.#isOver = true;
    });
    this.#opened = new Promise((resolve) => {
      this.#worker.once("message", ({ kind }: KeeperReport) => {
        if (kind === "Open") resolve();
      });
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#isOver = true;
        resolve();
      });
    });
  }

  /**
   * Start the thread. If it cannot open its store, calls `onFailure` with the cause.
   *
   * It opens its store while the work begins, and needs no help from the main loop for that. Only if leases are so short
   * that one could expire before, the work waits for it.
   */
  static async start(options: LeaseKeeperOptions): Promise<LeaseKeeper | undefined> {
    let keeper: LeaseKeeper;
    try {
      keeper = new LeaseKeeper(options);
    } catch (cause) {
      // For example, options that cannot be cloned for the thread.
      options.onFailure(cause);
      return undefined;
    }
    if (options.leaseMs < LONG_LEASE_MS) await Promise.race([keeper.#opened, keeper.#exited]);
    return keeper;
  }

  /** Start renewing a lease that was requested `agoMs` ago. Returns its slot. */
  hold(lease: Lease, agoMs: number): number {
    const slot = this.#freeSlots.pop();
    assert(slot !== undefined, "more leases are held than there are slots");
    this.renewed(slot, agoMs);
    this.#send({ kind: "Hold", slot, lease });
    return slot;
  }

  /** The main loop renewed the lease itself, with a request made `agoMs` ago. */
  renewed(slot: number, agoMs: number): void {
    this.#table.renewed(slot, sharedNowMs() - Math.ceil(agoMs));
  }

  drop(slot: number): void {
    this.#freeSlots.push(slot);
    this.#send({ kind: "Drop", slot });
  }

  /** An item is about to be started. Hot: called for every item. */
  started(key: Uint8Array): void {
    this.#running.set(key);
  }

  /** Record that the main loop is running. */
  beat(): void {
    this.#table.beat(sharedNowMs());
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#send({ kind: "Close" });
    this.#isOver = true;
    // A thread that is ended while it opens its store could leave the store's lock behind.
    this.#worker.ref();
    await Promise.race([this.#opened, this.#exited]);
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #send(order: KeeperOrder): void {
    if (!this.#isOver) this.#worker.postMessage(order);
  }
}

/** A module name that the thread can import: a path becomes a URL, anything else is passed as is. */
function nameModule(module: URL | string): string {
  if (typeof module !== "string") return module.href;
  return isAbsolute(module) ? pathToFileURL(module).href : module;
}
