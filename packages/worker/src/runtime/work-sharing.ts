import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";
import type { WorkerTime } from "../time/worker-time.ts";

/** The view of a shard in work that sharing needs. */
export interface Shareable {
  readonly isSplitting: boolean;
  expectedHandoverMs(nowMs: number): number;
  /** Split off the last few items if they are near, although no worker waits yet. */
  offerTail(nowMs: number): Promise<void>;
  /** Split off work for so many idle workers, or for fewer. */
  split(parts: number): Promise<void>;
}

/** How old the last capacity report may be before the store is queried. */
const ASK_EVERY_MS = 1000;
/** The same while workers of other processes wait, or did so not long ago. */
const ASK_STARVED_MS = 400;
/** The same while shards are being split: more than one worker may be waiting. */
const ASK_AGAIN_MS = 100;
/** A claim that leaves at most so many shards to others is one of the last. */
const FEW_LEFT = 4;
/**
 * The least work to hand over to other processes, by the number of reports in a row that workers wait. Holders of much
 * work split first. If small shards were split at the same time, their parts would hide that more is needed.
 */
const LEAST_HANDOVER_MS: readonly number[] = [1000];
/** The most parts that a shard is split into at once for workers of other processes. Each costs a write. */
const MAX_PARTS_ELSEWHERE = 16;

/**
 * Decides when shards are split: as soon as workers are idle, in this process or in others.
 *
 * This process knows its own idle workers. Every renewal reports on the others. If no renewal was due for a while, the
 * store is queried, which costs reads and no write: once a second, or twice a second while workers of other
 * processes starve, and only if there is work to hand over. The shards that are expected to hand over the most work
 * are split, into as many parts as this process has idle workers. How many wait elsewhere is unknown: one part is split
 * off for them, and twice as many each time that a report shows that all of them were taken and workers still wait.
 *
 * A report comes too late for the last second of a run. So if nothing is left to claim and no worker starves yet, the
 * last items of each shard are offered beforehand: the workers that end first find them at once.
 */
export class WorkSharing {
  readonly #time: WorkerTime;
  readonly #ask: () => Promise<CapacityHint | undefined>;
  readonly #ownDeadlines: () => readonly LogicalTime[];
  readonly #onWanted: () => void;
  readonly #onBug: (error: unknown) => void;
  #isWantedElsewhere = false;
  #isStarved = false;
  #availableCount = 0;
  /** Nothing was left to claim at some time since the last claim. */
  #isLastRound = false;
  /** Another process has held a shard of the run. */
  #hasOthers = false;
  /** Reports in a row that workers of other processes wait and nothing can be claimed. */
  #wantedReports = 0;
  /** How many parts to split off next for workers of other processes. */
  #partsElsewhere = 1;
  #observedMs: number;
  #askEveryMs = ASK_AGAIN_MS;
  #isAsking = false;

  constructor(parts: {
    readonly time: WorkerTime;
    readonly ask: () => Promise<CapacityHint | undefined>;
    /** When the leases of this process expire. */
    readonly ownDeadlines: () => readonly LogicalTime[];
    /** Workers of other processes wait: call `share`. */
    readonly onWanted: () => void;
    readonly onBug: (error: unknown) => void;
  }) {
    this.#time = parts.time;
    this.#ask = parts.ask;
    this.#ownDeadlines = parts.ownDeadlines;
    this.#onWanted = parts.onWanted;
    this.#onBug = parts.onBug;
    this.#observedMs = parts.time.nowMs();
  }

  /** Whether more could be claimed at the last report. */
  get hasMore(): boolean {
    return this.#availableCount > 0;
  }

  /** A shard was claimed. */
  observeClaim(capacity: CapacityHint): void {
    this.#isLastRound = false;
    this.#note(capacity);
    // The workers that claim next may find nothing: ask soon whether they wait.
    if (capacity.availableCount > FEW_LEFT) return;
    this.#askEveryMs = ASK_AGAIN_MS;
    this.#observedMs = this.#time.nowMs();
  }

  observe(capacity: CapacityHint): void {
    const { isStarved, availableCount } = capacity;
    this.#note(capacity);
    this.#observedMs = this.#time.nowMs();
    this.#isWantedElsewhere = isStarved && availableCount === 0;
    if (!this.#isWantedElsewhere) {
      this.#wantedReports = 0;
      this.#partsElsewhere = 1;
      return;
    }
    this.#wantedReports++;
    this.#onWanted();
  }

  #note({ availableCount, isStarved, earliestDeadline: first }: CapacityHint): void {
    this.#isStarved = isStarved;
    // A lease that expires before all leases of this process belongs to another.
    this.#hasOthers ||= first !== undefined && this.#ownDeadlines().every((deadline) => first < deadline);
    this.#availableCount = availableCount;
    if (availableCount === 0) this.#isLastRound = true;
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
    const wanted = Math.max(idleWorkers, this.#isWantedElsewhere ? this.#partsElsewhere : 0) - underWay;
    if (wanted <= 0 || all.length === 0) {
      if (this.#isLastRound && this.#hasOthers && !this.#isStarved)
        for (const shard of all) shard.offerTail(nowMs).catch(this.#onBug);
      return this.#askWhereQuiet(all, nowMs);
    }
    const leastMs = idleWorkers > 0 ? 0 : (LEAST_HANDOVER_MS[this.#wantedReports - 1] ?? 0);
    const chosen = all
      .map((shard) => ({ shard, handoverMs: shard.expectedHandoverMs(nowMs) }))
      .filter(({ handoverMs }) => handoverMs > leastMs)
      .sort((a, b) => (a.handoverMs < b.handoverMs ? 1 : -1))
      .slice(0, wanted);
    if (chosen.length === 0) {
      // The next report shows whether workers still wait.
      this.#isWantedElsewhere = false;
      this.#askEveryMs = ASK_AGAIN_MS;
      return;
    }
    // The last report is outdated now. The next renewal shows whether workers are still waiting.
    this.#isWantedElsewhere = false;
    this.#partsElsewhere = Math.min(MAX_PARTS_ELSEWHERE, 2 * this.#partsElsewhere);
    this.#askEveryMs = ASK_AGAIN_MS;
    chosen.forEach(({ shard }, index) => {
      const parts = Math.floor((wanted + chosen.length - 1 - index) / chosen.length);
      shard.split(parts).catch(this.#onBug);
    });
  }

  #askWhereQuiet(shards: readonly Shareable[], nowMs: number): void {
    const ageMs = nowMs - this.#observedMs;
    const isOld = ageMs >= this.#askEveryMs || (this.#isStarved && ageMs >= ASK_STARVED_MS);
    if (this.#isAsking || !isOld) return;
    // A worker with nothing to hand over leaves the store alone.
    if (!shards.some((shard) => shard.expectedHandoverMs(nowMs) > 0)) return;
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
