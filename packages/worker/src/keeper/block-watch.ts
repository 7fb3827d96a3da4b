import type { BlockedLoop } from "./keep-leases.ts";
import type { LeaseTable } from "./lease-table.ts";
import type { RunningItem } from "./running-item.ts";

export interface BlockWatchOptions {
  readonly table: Pick<LeaseTable, "beatMs">;
  readonly running: Pick<RunningItem, "key">;
  readonly nowMs: () => number;
  readonly onBlocked: (blocked: BlockedLoop) => void;
  readonly onUnblocked: () => void;
}

/** The main loop beats several times a second. This long without a beat means that it is blocked. */
const BLOCKED_AFTER_MS = 2000;

/** Watches the main loop from another thread, and reports which item blocks it. */
export class BlockWatch {
  readonly #options: BlockWatchOptions;
  #isBlocked = false;

  constructor(options: BlockWatchOptions) {
    this.#options = options;
  }

  /** Called several times a second. Reports as long as the loop is blocked. */
  tick(): void {
    const { table, running, nowMs, onBlocked, onUnblocked } = this.#options;
    const blockedMs = nowMs() - table.beatMs;
    const wasBlocked = this.#isBlocked;
    this.#isBlocked = blockedMs >= BLOCKED_AFTER_MS;
    if (this.#isBlocked) onBlocked({ key: running.key, blockedMs });
    else if (wasBlocked) onUnblocked();
  }
}
