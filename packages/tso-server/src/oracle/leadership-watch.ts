import { assert, err, ok, type Result } from "@gossip/stdx";
import type { CoreError, Epoch } from "@gossip/tso";
import type { DriverError } from "../driver/driver-error.ts";
import type { LeaderState } from "../driver/leader-state.ts";
import { FailoverFence, type FenceEnd, type FenceError, type FencingParts } from "./failover-fence.ts";
import { describeThrown } from "./observe.ts";

/** Why an oracle stopped by itself. It no longer serves then. */
export type WatchError =
  | { readonly kind: "Consensus"; readonly error: DriverError<"PermanentDriver" | "AdvanceOutOfRange"> }
  | { readonly kind: "Core"; readonly error: CoreError<"PhysicalMsOutOfRange" | "InvalidLeadershipWindow"> }
  | { readonly kind: "WatchStreamClosed" }
  | { readonly kind: "WatchPanic"; readonly message: string };

type Fencing = Promise<Result<FenceEnd, FenceError>>;

/**
 * Follows the driver's leadership events: fences on each `Leader`, leaves service on every other.
 *
 * A later event overtakes a fence that is still under way, even one that is stuck in the driver.
 * However it ends, by `stop`, by an error or by an exception, the gate is closed first.
 */
export class LeadershipWatch {
  readonly finished: Promise<Result<void, WatchError>>;
  readonly #parts: FencingParts;
  #isStopped = false;
  #signalStop: () => void = () => {};
  readonly #stopped: Promise<"stopped">;
  #generation = 0;
  #latestEpoch: Epoch | undefined;

  constructor(parts: FencingParts) {
    this.#parts = parts;
    this.#stopped = new Promise((resolve) => {
      this.#signalStop = () => resolve("stopped");
    });
    this.finished = this.#run();
  }

  /** Leave service at once, and end when the step under way is over. */
  stop(): void {
    this.#isStopped = true;
    this.#generation += 1;
    this.#parts.gate.leave();
    this.#signalStop();
  }

  async #run(): Promise<Result<void, WatchError>> {
    try {
      return await this.#watch();
    } catch (thrown) {
      this.#parts.gate.leave();
      return err({ kind: "WatchPanic", message: describeThrown(thrown) });
    }
  }

  async #watch(): Promise<Result<void, WatchError>> {
    const { driver, gate, metrics } = this.#parts;
    const events = driver.leadershipEvents()[Symbol.asyncIterator]();
    let next = events.next();
    let fencing: Fencing | undefined;
    for (;;) {
      const first = await Promise.race([this.#stopped, next, ...(fencing === undefined ? [] : [fencing])]);
      if (first === "stopped" || this.#isStopped) {
        void (await fencing);
        // Not awaited: a generator ends only after the event that it waits for.
        void events.return?.().catch(() => {});
        return ok();
      }
      if ("ok" in first) {
        fencing = undefined;
        if (!first.ok) return this.#fail(first.error);
        continue;
      }
      if (first.done === true) {
        gate.leave();
        return err({ kind: "WatchStreamClosed" });
      }
      metrics.counter("tsoracle.leader_transition.total").add();
      next = events.next();
      // A superseded fence ends by itself, and its result is ignored.
      void fencing?.catch(() => {});
      fencing = this.#enter(first.value);
    }
  }

  #enter(state: LeaderState): Fencing | undefined {
    const { gate } = this.#parts;
    const generation = ++this.#generation;
    switch (state.kind) {
      case "Leader":
        this.#assertForward(state.epoch);
        return new FailoverFence(this.#parts, state, () => this.#generation === generation).run();
      case "Follower": {
        const { kind: _, ...hint } = state;
        if (hint.leaderEpoch !== undefined) this.#assertForward(hint.leaderEpoch);
        gate.leave(hint);
        return undefined;
      }
      case "Unknown":
        gate.leave();
        return undefined;
    }
  }

  /** A driver whose epochs go back cannot fence anything: better not to serve at all. */
  #assertForward(epoch: Epoch): void {
    assert(this.#latestEpoch === undefined || epoch >= this.#latestEpoch, "a driver's epochs never decrease");
    this.#latestEpoch = epoch;
  }

  #fail(error: FenceError): Result<void, WatchError> {
    this.#parts.gate.leave();
    if (error.kind === "PermanentDriver" || error.kind === "AdvanceOutOfRange")
      return err({ kind: "Consensus", error });
    return err({ kind: "Core", error });
  }
}
