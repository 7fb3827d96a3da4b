import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogicalTime, WorkerId } from "@gossip/contracts";
import type { RunRequest, ShardRecord } from "@gossip/coordination";
import type { Source, WorkEstimate } from "@gossip/worker";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { visitShards } from "../run/inspect/read-shards.ts";
import type { RunOverview } from "../run/inspect/run-overview.ts";
import type { DoneItems } from "../run/inspect/sample-text.ts";
import { readShownOverview } from "../run/inspect/sampled-overview.ts";
import { countAheadOfWork, type CountTime } from "./estimate/count-ahead-of-work.ts";
import { estimateWork, type WorkLeft } from "./estimate/estimate-work.ts";
import { ProgressEstimator, type ProgressFigures } from "./estimate/progress-estimator.ts";
import { NO_ESTIMATE, readSharedEstimate, shareEstimate } from "./estimate/shared-estimate.ts";
import { shardWorkOf } from "./estimate/shard-work.ts";
import type { HistoryKeeper, LookAtShards } from "./history-keeper.ts";
import { shownOutage, type Outage, type OwnWork } from "./own-work.ts";
import type { ProgressView, RunProgressShown } from "./run-progress.ts";

export interface WatchOptions {
  readonly opened: OpenedStore;
  readonly request: RunRequest;
  readonly source: Pick<Source, "estimate">;
  readonly view: ProgressView;
  /** The id of this process. */
  readonly worker: WorkerId;
  /** The items that were done before this process started. */
  readonly before: DoneItems;
  /** The work of this process. */
  readonly own: OwnWork;
  readonly isStopping: () => boolean;
  /** Keeps the history of the run, where the store can be written by this process. */
  readonly history?: HistoryKeeper | undefined;
  /** Called whenever something is known, which may be more often than the view shows it. */
  readonly onShown?: (progress: RunProgressShown) => void;
}

/**
 * The share of time that reading the overview may take, so that a store with very many shards is not read all the time.
 */
const MAX_SHARE = 0.1;
/** How often the state is read, which may be more often than it is shown. */
const LOOK_EVERY_MS = 1000;
/** How long the end of the work may wait for the last part of the history. */
const MAX_END_MS = 2000;
/** A store that takes longer to respond is reported. */
const UNRESPONSIVE_MS = 5000;

const TIME: CountTime = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export interface RunWatch {
  /** Stop watching. */
  end(): Promise<void>;
  /** Show the final state, if the view shows states. */
  showEnd(overview: RunOverview): void;
}

/** Reads the state of a run periodically and shows it. */
export function watchRun(options: WatchOptions): RunWatch {
  return new Watch(options);
}

class Watch implements RunWatch {
  readonly #options: WatchOptions;
  readonly #startMs = performance.now();
  readonly #estimator = new ProgressEstimator();
  readonly #ending = new AbortController();
  readonly #count: Promise<void>;
  readonly #ticker: NodeJS.Timeout;
  #estimate: WorkEstimate = NO_ESTIMATE;
  #overview: RunOverview | undefined;
  #figures: ProgressFigures = { fraction: undefined, perSecond: undefined, remainingMs: undefined };
  #look: Promise<void> | undefined;
  /** A pass over all shards for the history of a run that is shown from a sample. */
  #pass: Promise<void> | undefined;
  #nextPassMs = 0;
  #lookBeganMs = 0;
  #nextLookMs = 0;
  /** When the figures were right. */
  #figuresMs = 0;
  #left:
    | { readonly overview: RunOverview; readonly estimate: WorkEstimate; readonly work: WorkLeft | undefined }
    | undefined;
  /** The items that this process had done at the last look. */
  #ownAtLook = 0;
  #nextShowMs = 0;
  /** Since when looks have failed. */
  #failedSinceMs: number | undefined;
  /** The lead of the coordinator's clock over that of this process. */
  #clockLeadMs = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { view } = options;
    this.#count = this.#estimateWork();
    const everyMs = Math.min(view.everyMs, LOOK_EVERY_MS);
    this.#nextShowMs = this.#startMs + everyMs;
    this.#ticker = setInterval(() => this.#tick(), everyMs / 2);
  }

  async end(): Promise<void> {
    clearInterval(this.#ticker);
    this.#ending.abort();
    await this.#count;
    await this.#look;
    await this.#pass;
    // A store that does not respond must not hold up the end.
    await Promise.race([this.#endHistory(), sleep(MAX_END_MS, undefined, { ref: false })]);
  }

  showEnd(overview: RunOverview): void {
    const atMs = performance.now();
    this.#overview = overview;
    const figures = this.#sample(overview, atMs);
    const fraction = overview.states.parked === 0 ? 1 : figures.fraction;
    this.#figures = { ...figures, fraction, remainingMs: undefined };
    this.#options.view.showEnd(this.#shown(overview, atMs));
  }

  /** Use the estimate that is stored with the run, or make one and store it: one process counts for all. */
  async #estimateWork(): Promise<void> {
    const { opened, request, source } = this.#options;
    const { signal } = this.#ending;
    this.#estimate = await readSharedEstimate(opened, request);
    if (this.#estimate.spans.length > 0 || signal.aborted) return;
    const onEstimate = (estimate: WorkEstimate): void => void (this.#estimate = estimate);
    const isComplete = await countAheadOfWork({ source, time: TIME, signal, onEstimate });
    if (isComplete && this.#estimate.spans.length > 0) await shareEstimate(opened, request, this.#estimate);
  }

  /** Runs apart from the looks, so that a store that does not respond does not freeze the view. */
  #tick(): void {
    const nowMs = performance.now();
    if (this.#look === undefined && nowMs >= this.#nextLookMs) {
      this.#lookBeganMs = nowMs;
      this.#look = this.#lookOnce().finally(() => (this.#look = undefined));
    }
    if (this.#overview === undefined) return;
    this.#update(this.#overview, nowMs);
    const shown = this.#shown(this.#overview, nowMs);
    this.#options.onShown?.(shown);
    if (nowMs < this.#nextShowMs) return;
    this.#nextShowMs = nowMs + this.#options.view.everyMs;
    this.#options.view.show(shown);
  }

  /** Bring the figures up to date. A look may be many seconds old: a busy machine makes each of them slow. */
  #update(overview: RunOverview, nowMs: number): void {
    const { own, worker } = this.#options;
    if (this.#outage(nowMs) !== undefined) this.#figures = this.#estimator.addSilence(nowMs);
    // What other processes have done is known at the next look.
    else if ([...overview.holders].every((holder) => holder === worker)) {
      const itemsSince = own.done - this.#ownAtLook;
      this.#figures = this.#estimator.addOwn({ atMs: nowMs, itemsSince, left: this.#workLeft(overview) });
      this.#figuresMs = nowMs;
    }
  }

  async #lookOnce(): Promise<void> {
    const { opened, view } = this.#options;
    const beganMs = this.#lookBeganMs;
    try {
      const { overview, look } = await this.#read();
      const now = await opened.clock.now();
      if (this.#ending.signal.aborted) return;
      if (overview === undefined) this.#failedSinceMs ??= beganMs;
      else {
        const nowMs = performance.now();
        this.#clockLeadMs = Number(now) - nowMs;
        this.#overview = overview;
        this.#figures = this.#sample(overview, nowMs);
        this.#failedSinceMs = undefined;
        if (overview.sample === undefined) await this.#record(look(now));
        else this.#planPass(nowMs);
      }
    } catch {
      // The work handles an unreadable store or clock: it retries, and reports the failure in the end.
      this.#failedSinceMs ??= beganMs;
    }
    const tookMs = performance.now() - beganMs;
    this.#nextLookMs = beganMs + Math.max(Math.min(view.everyMs, LOOK_EVERY_MS), tookMs / MAX_SHARE);
  }

  /** Read the state for display. `look` repeats the shards that were read, for the history. */
  async #read(): Promise<{ overview: RunOverview | undefined; look: (now: LogicalTime) => LookAtShards }> {
    const { opened, request, history } = this.#options;
    const shards: ShardRecord[] = [];
    const onRecord = history && ((record: ShardRecord): void => void shards.push(record));
    const read = await readShownOverview(opened, request, { estimate: this.#estimate, onRecord });
    const look = (now: LogicalTime): LookAtShards => {
      return (visit) => {
        for (const shard of shards) visit(shard, now);
        return now;
      };
    };
    return { overview: read.ok ? read.value : undefined, look };
  }

  /** The history needs all shards. Of very many, they are read apart from the looks, which then need only a few. */
  #planPass(nowMs: number): void {
    if (this.#options.history === undefined || this.#pass !== undefined || nowMs < this.#nextPassMs) return;
    this.#pass = this.#passOnce(nowMs).finally(() => (this.#pass = undefined));
  }

  async #passOnce(beganMs: number): Promise<void> {
    const { opened, request } = this.#options;
    const { signal } = this.#ending;
    try {
      await this.#record(async (visit) => {
        const read = await visitShards(opened, request, visit, { signal });
        return read.ok && !signal.aborted ? await opened.clock.now() : undefined;
      });
    } catch {
      // The store or the clock does not respond. The next pass tries again.
    }
    this.#nextPassMs = beganMs + (performance.now() - beganMs) / MAX_SHARE;
  }

  async #record(look: LookAtShards): Promise<void> {
    const { fraction, perSecond, remainingMs } = this.#figures;
    await this.#options.history?.add(look, { fraction, perSecond, remainingMs });
  }

  /** What was done since the last look belongs to the history, too. Of very many shards, it ends with the last pass. */
  async #endHistory(): Promise<void> {
    const { opened, history } = this.#options;
    if (history === undefined) return;
    try {
      const { overview, look } = await this.#read();
      const { fraction, perSecond } = this.#figures;
      if (overview !== undefined && overview.sample === undefined)
        await history.add(look(await opened.clock.now()), { fraction, perSecond });
    } catch {
      // The store or the clock does not respond. The history then ends with the last look.
    }
    await history.end();
  }

  #sample(overview: RunOverview, atMs: number): ProgressFigures {
    const { own } = this.#options;
    this.#figuresMs = atMs;
    this.#ownAtLook = own.done;
    const left = this.#workLeft(overview);
    return this.#estimator.add({ atMs, items: overview.totals.items, unstored: own.unstored, left });
  }

  /** Computed again only if the overview or the estimate has changed. */
  #workLeft(overview: RunOverview): WorkLeft | undefined {
    const estimate = this.#estimate;
    if (this.#left?.overview !== overview || this.#left.estimate !== estimate)
      this.#left = { overview, estimate, work: workLeft(overview, estimate) };
    return this.#left.work;
  }

  #outage(nowMs: number): Outage | undefined {
    const isSlow = this.#look !== undefined && nowMs - this.#lookBeganMs > UNRESPONSIVE_MS;
    return shownOutage(this.#options.own.outage, this.#failedSinceMs ?? (isSlow ? this.#lookBeganMs : undefined));
  }

  #shown(overview: RunOverview, nowMs: number): RunProgressShown {
    const { own, worker, before, isStopping } = this.#options;
    const { remainingMs } = this.#figures;
    const held = own.progress?.held ?? 0;
    const { earliestDeadline, states } = overview;
    // The overview is older than what this process knows about itself, so it may still show a shard as its own.
    const isOwn = overview.holders.has(worker);
    const isWaiting = own.progress !== undefined && held === 0 && !isOwn && states.leased > 0 && states.waiting === 0;
    const outage = this.#ending.signal.aborted ? undefined : this.#outage(nowMs);
    return {
      overview,
      elapsedMs: nowMs - this.#startMs,
      before,
      ...this.#figures,
      // Time has passed since it was predicted.
      remainingMs: remainingMs === undefined ? undefined : Math.max(0, remainingMs - (nowMs - this.#figuresMs)),
      held,
      waitMs:
        isWaiting && earliestDeadline !== undefined ? Number(earliestDeadline) - nowMs - this.#clockLeadMs : undefined,
      outage: outage && withTime(outage, nowMs),
      isStopping: isStopping(),
    };
  }
}

function workLeft({ rows, totals: { items }, fraction, sample }: RunOverview, estimate: WorkEstimate) {
  if (sample === undefined) return estimateWork(shardWorkOf(rows), estimate);
  // The fraction of a sample is known well enough, or not at all.
  if (fraction === undefined || fraction === 0) return undefined;
  return { done: items, remaining: items / fraction - items, parked: 0, deviation: 0 };
}

function withTime({ what, sinceMs }: Outage, nowMs: number): NonNullable<RunProgressShown["outage"]> {
  const forMs = Math.max(0, nowMs - sinceMs);
  return { what, forMs, since: new Date(Date.now() - forMs) };
}
