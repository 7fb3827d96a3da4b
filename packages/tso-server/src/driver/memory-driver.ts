import { err, ok, type Result } from "@gossip/stdx";
import { isPhysicalMs, type Epoch } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import type { ConsensusDriver } from "./consensus-driver.ts";
import type { DriverError } from "./driver-error.ts";
import { leaderAt, type LeaderState } from "./leader-state.ts";
import { LeadershipFeed } from "./leadership-feed.ts";

/** What several memory drivers share, as nodes share a replicated store. */
export class MemoryHighWater {
  highWaterMs = 0;
}

/**
 * A driver that keeps its bound in memory: for tests and examples. Nothing survives the process.
 *
 * It leads from the start, with epoch 1. `setLeadership` changes that.
 */
export class MemoryDriver implements ConsensusDriver {
  readonly #store: MemoryHighWater;
  readonly #feed: LeadershipFeed;
  #isClosed = false;

  constructor(options: { readonly store?: MemoryHighWater; readonly leadership?: LeaderState } = {}) {
    assertObject(options, "the options of a memory driver");
    this.#store = options.store ?? new MemoryHighWater();
    this.#feed = new LeadershipFeed(options.leadership ?? leaderAt(1n));
  }

  get highWaterMs(): number {
    return this.#store.highWaterMs;
  }

  setLeadership(state: LeaderState): void {
    this.#feed.publish(state);
  }

  leadershipEvents(): AsyncIterable<LeaderState> {
    return this.#feed.events();
  }

  loadHighWater(): Promise<Result<number, DriverError>> {
    return Promise.resolve(this.#isClosed ? err(CLOSED) : ok(this.#store.highWaterMs));
  }

  persistHighWater(atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>> {
    return Promise.resolve(this.#persist(atLeastMs, epoch));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#feed.close();
    return Promise.resolve();
  }

  #persist(atLeastMs: number, epoch: Epoch): Result<number, DriverError> {
    if (!isPhysicalMs(atLeastMs)) return err({ kind: "AdvanceOutOfRange", physicalMs: atLeastMs });
    if (this.#isClosed) return err(CLOSED);
    const state = this.#feed.state;
    if (state.kind !== "Leader") return err({ kind: "NotLeader" });
    if (state.epoch !== epoch) return err({ kind: "Fenced", expected: epoch, current: state.epoch });
    this.#store.highWaterMs = Math.max(this.#store.highWaterMs, atLeastMs);
    return ok(this.#store.highWaterMs);
  }
}

const CLOSED: DriverError = { kind: "PermanentDriver", reason: "the driver is closed" };
