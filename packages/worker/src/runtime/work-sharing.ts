import type { CapacityHint } from "@gossip/coordination";
import type { WorkerTime } from "../time/worker-time.ts";

/** A shard in work, as far as sharing it goes. */
export interface Shareable {
  readonly isSplitting: boolean;
  expectedHandoverMs(nowMs: number): number;
  split(): Promise<void>;
}

/** How old what was heard of the run may be before somebody asks. */
const ASK_EVERY_MS = 1000;
/** The same while shards are being split: whoever waited for one may not have been alone. */
const ASK_AGAIN_MS = 100;

/**
 * Decides when shards are split: as soon as workers have nothing to do, here or elsewhere.
 *
 * The workers of this process are known to wait. Of others it is heard with every renewal, and where none
 * was due for a while the store is asked, which costs a read and no write. Those shards are split that are
 * expected to hand over most, as many as workers wait here, or one for those elsewhere: if that was not
 * enough they will be heard of again.
 */
export class WorkSharing {
  readonly #time: WorkerTime;
  readonly #ask: () => Promise<CapacityHint | undefined>;
  readonly #onBug: (error: unknown) => void;
  #isWantedElsewhere = false;
  #heardMs: number;
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
    this.#heardMs = parts.time.nowMs();
  }

  hear({ isStarved, availableCount }: CapacityHint): void {
    this.#heardMs = this.#time.nowMs();
    this.#isWantedElsewhere = isStarved && availableCount === 0;
  }

  /** Split what is worth it, where somebody waits. `idleWorkers` are those of this process that found nothing. */
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
      // What was heard is old from here on: the next renewal tells whether somebody still waits.
      this.#isWantedElsewhere = false;
      this.#askEveryMs = ASK_AGAIN_MS;
      shard.split().catch(this.#onBug);
    }
  }

  #askWhereQuiet(held: number, nowMs: number): void {
    if (held === 0 || this.#isAsking || nowMs - this.#heardMs < this.#askEveryMs) return;
    this.#isAsking = true;
    this.#ask()
      .then((capacity) => {
        this.#isAsking = false;
        this.#heardMs = this.#time.nowMs();
        this.#askEveryMs = Math.min(ASK_EVERY_MS, 2 * this.#askEveryMs);
        if (capacity !== undefined) this.hear(capacity);
      })
      .catch(this.#onBug);
  }
}
