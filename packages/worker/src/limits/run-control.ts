import type { RunStatus } from "@gossip/contracts";
import type { GetRunError } from "@gossip/coordination-errors";
import type { Settings } from "../runtime/settings.ts";
import type { WorkerEvent } from "../runtime/worker-event.ts";
import { FleetLimiter, type Demand } from "./fleet-limiter.ts";
import { SettingsWatch } from "./settings-watch.ts";

/** A shard in work, as far as the settings of the run concern it. */
export interface ControlledShard {
  /** Items in progress, including those that wait for a retry. */
  readonly inFlight: number;
  /** Items that it may have in progress. */
  readonly capacity: number;
  stop(stop: { readonly kind: "Pause" }): void;
  /** Items that had to wait may be able to start now. */
  onGateChange(): void;
}

export interface RunControlListener {
  readonly emit: (event: WorkerEvent) => void;
  onResumed(): void;
  /** The run was ended while it was paused. */
  onEnded(status: RunStatus): void;
  /** The store returned an error while the run was paused. */
  onFailed(error: GetRunError): void;
  /** The store works, and the run is paused. */
  onWorked(): void;
  /** An invariant was broken. */
  readonly onBug: (error: unknown) => void;
}

/** Applies the settings of a run to the shards that this process works on. */
export class RunControl {
  readonly limiter: FleetLimiter;
  readonly #watch: SettingsWatch;
  readonly #shards: ReadonlySet<ControlledShard>;
  #turn = 0;

  constructor(
    settings: Pick<Settings, "coordinator" | "run" | "worker" | "time">,
    shards: ReadonlySet<ControlledShard>,
    listener: RunControlListener,
  ) {
    this.#shards = shards;
    const { coordinator, run, worker, time } = settings;
    const { onBug, emit } = listener;
    const onRoom = (): void => this.#poke();
    const demand = (): Demand => this.#demand();
    this.limiter = new FleetLimiter({ coordinator, run, worker, time, demand, onRoom, onBug });
    this.#watch = new SettingsWatch({
      coordinator,
      run,
      time,
      listener: {
        onSettings: (settings) => this.limiter.apply(settings),
        onPaused: () => {
          emit({ kind: "RunPaused" });
          for (const shard of shards) shard.stop({ kind: "Pause" });
        },
        onResumed: (afterMs) => {
          emit({ kind: "RunResumed", afterMs });
          listener.onResumed();
        },
        onEnded: (status) => listener.onEnded(status),
        onFailed: (error) => listener.onFailed(error),
        onWorked: () => listener.onWorked(),
        onBug,
      },
    });
  }

  get isPaused(): boolean {
    return this.#watch.isPaused;
  }

  get pausedMs(): number | undefined {
    return this.#watch.pausedMs;
  }

  /** Resolves when the settings are known, or if the store does not have them now. */
  start(): Promise<void> {
    return this.#watch.start();
  }

  stop(): void {
    this.#watch.stop();
    this.limiter.stop();
  }

  #demand(): Demand {
    let [inFlight, capacity] = [0, 0];
    for (const shard of this.#shards) {
      inFlight += shard.inFlight;
      capacity += shard.capacity;
    }
    return { inFlight, capacity };
  }

  /** Wake the shards, each time another one first. Otherwise the first would get every item. */
  #poke(): void {
    const shards = [...this.#shards];
    const first = shards.length === 0 ? 0 : this.#turn++ % shards.length;
    for (const shard of [...shards.slice(first), ...shards.slice(0, first)]) shard.onGateChange();
  }
}
