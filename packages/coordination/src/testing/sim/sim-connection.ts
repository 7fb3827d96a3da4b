import type { CommitFault, FaultSource, ReadFault } from "../fault-injecting-store.ts";
import type { FaultConfig, FaultKind } from "./fault-level.ts";
import type { Random } from "./random.ts";
import type { SimScheduler } from "./sim-scheduler.ts";

/** The faults of one operation's calls to the store. */
export interface Weather {
  readonly random: Random;
  readonly faults: FaultConfig;
  /** The worker pauses for a number of steps at this call or its response, counted from 0. */
  readonly pause: { readonly atCall: number; readonly steps: number } | undefined;
}

/** The points of an operation at which a worker may pause, from before the first read to after the first commit. */
const PAUSE_CALLS = 4;

export function makeWeather(random: Random, faults: FaultConfig): Weather {
  const pauses = random.chance(faults.pausePpm);
  const pause = pauses ? { atCall: random.below(PAUSE_CALLS), steps: random.between(...faults.pauseSteps) } : undefined;
  return { random, faults, pause };
}

/**
 * The connection between a coordinator and the store.
 *
 * Each operation has its own faults, so that they do not depend on what else is in flight.
 */
export class SimConnection implements FaultSource {
  readonly #scheduler: SimScheduler;
  readonly #noteFault: (kind: FaultKind) => void;
  #weather: Weather | undefined;
  #callCount = 0;
  #isCut = false;
  #faultCount = 0;

  constructor(scheduler: SimScheduler, noteFault: (kind: FaultKind) => void) {
    this.#scheduler = scheduler;
    this.#noteFault = noteFault;
  }

  /** The number of faults so far. A slow call counts, because others may have written meanwhile. */
  get faultCount(): number {
    return this.#faultCount;
  }

  /** Starts an operation. `undefined` if it has no faults. */
  begin(weather: Weather | undefined): void {
    this.#weather = weather;
    this.#callCount = 0;
  }

  /** Counts a fault outside this connection. */
  disturb(): void {
    this.#faultCount += 1;
  }

  /** From now on, requests arrive but their responses are lost. */
  cut(): void {
    this.#isCut = true;
  }

  onRead(): ReadFault | undefined {
    if (this.#weather === undefined) return undefined;
    const { random, faults } = this.#weather;
    if (random.chance(faults.readFailedPpm)) {
      this.#count("ReadFailed");
      return "Failed";
    }
    if (!random.chance(faults.staleReadPpm)) return undefined;
    this.#count("StaleRead");
    return "Stale";
  }

  onCommit(): CommitFault | undefined {
    if (this.#weather === undefined) return undefined;
    const { random, faults } = this.#weather;
    for (const [fault, ppm] of Object.entries(faults.commitPpm) as [CommitFault, number][]) {
      if (!random.chance(ppm)) continue;
      this.#count(fault);
      return fault;
    }
    return undefined;
  }

  delay(): Promise<void> | undefined {
    this.#scheduler.noteCall();
    if (this.#isCut) return new Promise(() => {});
    if (this.#weather === undefined) return undefined;
    const { random, faults, pause } = this.#weather;
    if (this.#callCount++ === pause?.atCall) return this.#park("Pause", pause.steps);
    return random.chance(faults.slowPpm) ? this.#park("Slow", random.between(...faults.slowSteps)) : undefined;
  }

  #park(kind: FaultKind, steps: number): Promise<void> {
    this.#count(kind);
    return this.#scheduler.park(steps);
  }

  #count(kind: FaultKind): void {
    this.#faultCount += 1;
    this.#noteFault(kind);
  }
}
