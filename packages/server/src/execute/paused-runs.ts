import type { CoordinatorApi, RunRequest } from "@gossip/coordination";

/** How long the answer of the store is used: as often as a worker reads the settings itself. */
const FRESH_MS = 1000;
/** How many runs are remembered. */
const CAPACITY = 10_000;

interface Known {
  readonly atMs: number;
  readonly isPaused: Promise<boolean>;
}

/** Which runs are paused, so that workers that do not read the settings of their run get nothing to do either. */
export class PausedRuns {
  readonly #coordinator: Pick<CoordinatorApi, "getRunSettings">;
  readonly #nowMs: () => number;
  readonly #known = new Map<string, Known>();

  constructor(coordinator: Pick<CoordinatorApi, "getRunSettings">, nowMs: () => number) {
    this.#coordinator = coordinator;
    this.#nowMs = nowMs;
  }

  /** Whether a run is paused. A run whose settings cannot be read is not. */
  async has({ tenant, run }: RunRequest): Promise<boolean> {
    const key = `${tenant}${run}`;
    const nowMs = this.#nowMs();
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known.isPaused;
    if (this.#known.size >= CAPACITY) this.#known.clear();
    const isPaused = this.#coordinator
      .getRunSettings({ tenant, run })
      .then((settings) => settings.ok && settings.value.paused);
    this.#known.set(key, { atMs: nowMs, isPaused });
    return isPaused;
  }

  /** The settings of a run were changed here. */
  forget({ tenant, run }: RunRequest): void {
    this.#known.delete(`${tenant}${run}`);
  }
}
