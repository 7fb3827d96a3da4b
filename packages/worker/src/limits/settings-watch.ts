import { RunStatus } from "@gossip/contracts";
import type { CoordinatorApi, RunRequest, RunSettings } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import type { WorkerTime } from "../time/worker-time.ts";

/** How often the settings of a run are read. */
const LOOK_EVERY_MS = 1000;

export interface SettingsListener {
  /** The settings, each time they are read. */
  onSettings(settings: RunSettings): void;
  onPaused(): void;
  onResumed(afterMs: number): void;
  /** The run was ended while it was paused. */
  onEnded(status: RunStatus): void;
  /** The store returned an error while the run was paused: no claim or checkpoint would notice it. */
  onFailed(error: GetRunError): void;
  /** The store works, and the run is paused. */
  onWorked(): void;
  /** An invariant was broken. */
  onBug(error: unknown): void;
}

export interface SettingsWatchOptions {
  readonly coordinator: CoordinatorApi;
  readonly run: RunRequest;
  readonly time: WorkerTime;
  readonly listener: SettingsListener;
}

/**
 * Follows the settings of a run, which an operator may change at any time and from any machine.
 *
 * While the run is paused nothing is claimed, so its end and failures of the store are looked for here. Otherwise a
 * failed read is ignored, and the last known settings stay: claims and checkpoints notice that the store is unavailable.
 */
export class SettingsWatch {
  readonly #options: SettingsWatchOptions;
  #pausedSinceMs: number | undefined;
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(options: SettingsWatchOptions) {
    this.#options = options;
  }

  /** How long this process has known that the run is paused. `undefined` if it is not. */
  get pausedMs(): number | undefined {
    return this.#pausedSinceMs === undefined ? undefined : this.#options.time.nowMs() - this.#pausedSinceMs;
  }

  get isPaused(): boolean {
    return this.#pausedSinceMs !== undefined;
  }

  /** Read the settings now, and then once a second. Resolves after the first read. */
  async start(): Promise<void> {
    await this.#look();
    if (this.#isOver) return;
    const { time, listener } = this.#options;
    this.#cancel = time.startTimer(LOOK_EVERY_MS, () => void this.start().catch((error) => listener.onBug(error)));
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  async #look(): Promise<void> {
    const { coordinator, run } = this.#options;
    const settings = await coordinator.getRunSettings(run);
    if (this.#isOver) return;
    if (settings.ok) {
      this.#options.listener.onSettings(settings.value);
      this.#apply(settings.value);
    }
    if (!this.isPaused) return;
    if (settings.ok) await this.#lookForEnd();
    else this.#options.listener.onFailed(settings.error);
  }

  #apply({ paused }: RunSettings): void {
    const { time, listener } = this.#options;
    const { pausedMs } = this;
    if (paused === (pausedMs !== undefined)) return;
    this.#pausedSinceMs = paused ? time.nowMs() : undefined;
    if (pausedMs === undefined) listener.onPaused();
    else listener.onResumed(pausedMs);
  }

  async #lookForEnd(): Promise<void> {
    const { coordinator, run, listener } = this.#options;
    const found = await coordinator.getRun(run);
    if (this.#isOver) return;
    if (!found.ok) listener.onFailed(found.error);
    else if (RunStatus.isTerminal(found.value.status)) listener.onEnded(found.value.status);
    else listener.onWorked();
  }
}
