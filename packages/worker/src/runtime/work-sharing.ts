import type { CapacityHint } from "@gossip/coordination";
import type { WorkerTime } from "../time/worker-time.ts";

/** The view of a shard in work that sharing needs. */
export interface Shareable {
  readonly isSplitting: boolean;
  expectedHandoverMs(nowMs: number): number;
  split(): Promise<void>;
}

/** How old the last capacity report may be before the store is queried. */
const ASK_EVERY_MS = 1000;
/** The same while shards are being split: more than one worker may be waiting. */
const ASK_AGAIN_MS = 100;

/**
 * Decides when shards are split: as soon as workers are idle, in this process or in others.
 *
 * This process knows its own idle workers. Every renewal reports on the others. If no renewal was due for a while, the
 * store is queried, which costs a read and no write. The shards that are expected to hand over the most work are split:
 * as many as this process has idle workers, or one for other processes. If that is not enough, the next report shows
 * it.
 */
export class WorkSharing {
  readonly #time: WorkerTime;
  readonly #ask: () => Promise<CapacityHint | undefined>;
  readonly #onBug: (error: unknown) => void;
  #isWantedElsewhere = false;
  #observedMs: number;
  #askEveryMs = ASK_EVERY_MS;
  #isAsking = false;

  constructor(parts: {
    readonly time: WorkerTime;
    readonly ask: () => Promise<CapacityHint | undefined>;
    readonly onBug: (error: unknown) => void;
  }) {
    this.#time = parts.time;
    this.#ask = parts.ask;
    this.#onBug = parts.onBug;
    this.#observedMs = parts.time.nowMs();
  }

  observe({ isStarved, availableCount }: CapacityHint): void {
    this.#observedMs = this.#time.nowMs();
    this.#isWantedElsewhere = isStarved && availableCount === 0;
  }

  /**
   * Split shards worth splitting if workers are waiting. `idleWorkers` counts the workers of this process that found
   * nothing to claim.
   */
  share(
    shards: Iterable<Shareable>,
    { nowMs, idleWorkers }: { readonly nowMs: number; readonly idleWorkers: number },
  ): void {
    const all = [...shards];
    const underWay = all.filter(({ isSplitting }) => isSplitting).length;
    const wanted = Math.max(idleWorkers, this.#isWantedElsewhere ? 1 : 0) - underWay;
    if (wanted <= 0 || all.length === 0) return this.#askWhereQuiet(all.length, nowMs);
    const chosen = all
      .map((shard) => ({ shard, handoverMs: shard.expectedHandoverMs(nowMs) }))
      .filter(({ handoverMs }) => handoverMs > 0)
      .sort((a, b) => (a.handoverMs < b.handoverMs ? 1 : -1))
      .slice(0, wanted);
    for (const { shard } of chosen) {
      // The last report is outdated now. The next renewal shows whether workers are still waiting.
      this.#isWantedElsewhere = false;
      this.#askEveryMs = ASK_AGAIN_MS;
      shard.split().catch(this.#onBug);
    }
  }

  #askWhereQuiet(held: number, nowMs: number): void {
    if (held === 0 || this.#isAsking || nowMs - this.#observedMs < this.#askEveryMs) return;
    this.#isAsking = true;
    this.#ask()
      .then((capacity) => {
        this.#isAsking = false;
        this.#observedMs = this.#time.nowMs();
        this.#askEveryMs = Math.min(ASK_EVERY_MS, 2 * this.#askEveryMs);
        if (capacity !== undefined) this.observe(capacity);
      })
      .catch(this.#onBug);
  }
}
