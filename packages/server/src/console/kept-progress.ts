import type { Coordinator, RunProgress, RunRequest } from "@gossip/coordination";

export interface KeptProgressOptions {
  readonly coordinator: Coordinator;
  readonly request: RunRequest;
  /** The share of time that counting may take. */
  readonly share: number;
  readonly nowMs: () => number;
}

/** The store's counts of a run. A store may have to count a million shards, so they are kept for a while. */
export class KeptProgress {
  readonly #options: KeptProgressOptions;
  #kept: { readonly untilMs: number; readonly counts: Promise<RunProgress | undefined> } | undefined;

  constructor(options: KeptProgressOptions) {
    this.#options = options;
  }

  /** The counts, or `undefined` if the store fails. */
  async read(): Promise<RunProgress | undefined> {
    const { nowMs, share } = this.#options;
    const beganMs = nowMs();
    if (this.#kept !== undefined && beganMs < this.#kept.untilMs) return this.#kept.counts;
    const counts = this.#count();
    this.#kept = { untilMs: Infinity, counts };
    try {
      return await counts;
    } finally {
      const endMs = nowMs();
      this.#kept = { untilMs: endMs + (endMs - beganMs) / share, counts };
    }
  }

  async #count(): Promise<RunProgress | undefined> {
    const { coordinator, request } = this.#options;
    const read = await coordinator.getRunProgress(request);
    return read.ok ? read.value : undefined;
  }
}
