import { err, ok, type Result } from "@gossip/stdx";
import type { Epoch } from "@gossip/tso";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import type { LeaderState } from "../driver/leader-state.ts";

/** One call to `persistHighWater`, as it was made. */
export interface PersistCall {
  readonly atLeastMs: number;
  readonly epoch: Epoch;
}

/** What happens to a call instead of reaching the driver: an error, an exception, or a value that is not the truth. */
export type Fault =
  | DriverError
  | { readonly kind: "Throws" }
  | { readonly kind: "Answers"; readonly highWaterMs: number };

/** Wraps a driver, and fails, stalls or lies on request. Records the calls it gets. */
export class FaultyDriver implements ConsensusDriver {
  readonly inner: ConsensusDriver;
  /** Consumed first to last, one a call. */
  readonly persistFaults: Fault[] = [];
  readonly loadFaults: Fault[] = [];
  /** The fault of every call once the lists above are empty. */
  everyPersist: Fault | undefined;
  readonly persistCalls: PersistCall[] = [];
  loadCalls = 0;
  #held: Promise<void> | undefined;
  #release: () => void = () => {};
  #holdsLoads = false;

  constructor(inner: ConsensusDriver) {
    this.inner = inner;
  }

  /** Holds persists until `release`, and by default loads too. */
  hold(what: "everything" | "persists" = "everything"): void {
    this.#holdsLoads = what === "everything";
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#held = undefined;
    this.#release();
  }

  leadershipEvents(): AsyncIterable<LeaderState> {
    return this.inner.leadershipEvents();
  }

  async loadHighWater(): Promise<Result<number, DriverError>> {
    this.loadCalls += 1;
    if (this.#holdsLoads) await this.#held;
    const fault = this.loadFaults.shift();
    return fault === undefined ? this.inner.loadHighWater() : happen(fault);
  }

  async persistHighWater(atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>> {
    this.persistCalls.push({ atLeastMs, epoch });
    await this.#held;
    const fault = this.persistFaults.shift() ?? this.everyPersist;
    return fault === undefined ? this.inner.persistHighWater(atLeastMs, epoch) : happen(fault);
  }

  close(): Promise<void> {
    this.release();
    return this.inner.close();
  }
}

function happen(fault: Fault): Result<number, DriverError> {
  if (fault.kind === "Throws") throw new Error("an injected exception");
  return fault.kind === "Answers" ? ok(fault.highWaterMs) : err(fault);
}
