import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerId } from "@gossip/contracts";
import type { RunRequest, ShardRecord } from "@gossip/coordination";
import type { Source, WorkEstimate } from "@gossip/worker";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { readOverview, type RunOverview } from "../run/inspect/run-overview.ts";
import { countAheadOfWork, type CountTime } from "./estimate/count-ahead-of-work.ts";
import { estimateWork, type WorkLeft } from "./estimate/estimate-work.ts";
import { ProgressEstimator, type ProgressFigures } from "./estimate/progress-estimator.ts";
import { NO_ESTIMATE, readSharedEstimate, shareEstimate } from "./estimate/shared-estimate.ts";
import { shardWorkOf } from "./estimate/shard-work.ts";
import type { HistoryKeeper } from "./history-keeper.ts";
import { shownOutage, type Outage, type OwnWork } from "./own-work.ts";
import type { ProgressView, RunProgressShown } from "./run-progress.ts";

export interface WatchOptions {
  readonly opened: OpenedStore;
  readonly request: RunRequest;
  readonly source: Pick<Source, "estimate">;
  readonly view: ProgressView;
  /** The id of this process. */
  readonly worker: WorkerId;
  readonly itemsBefore: number;
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
    // A store that does not respond must not hold up the end.
    await Promise.race([this.#endHistory(), sleep(MAX_END_MS, undefined, { ref: false })]);
  }

  showEnd(overview: RunOverview): void {
    const atMs = performance.now();
    this.#overview = overview;
    this.#figures = { ...this.#sample(overview, atMs), fraction: 1, remainingMs: undefined };
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
    else if (overview.rows.every(({ leaseOwner }) => leaseOwner === undefined || leaseOwner === worker)) {
      const itemsSince = own.done - this.#ownAtLook;
      this.#figures = this.#estimator.addOwn({ atMs: nowMs, itemsSince, left: this.#workLeft(overview) });
      this.#figuresMs = nowMs;
    }
  }

  async #lookOnce(): Promise<void> {
    const { opened, request, view, history } = this.#options;
    const beganMs = this.#lookBeganMs;
    try {
      const shards: ShardRecord[] = [];
      const keep = history && ((record: ShardRecord): void => void shards.push(record));
      const read = await readOverview(opened, request, this.#estimate, keep);
      const now = await opened.clock.now();
      if (this.#ending.signal.aborted) return;
      if (read.ok) {
        const nowMs = performance.now();
        this.#clockLeadMs = Number(now) - nowMs;
        this.#overview = read.value;
        this.#figures = this.#sample(read.value, nowMs);
        this.#failedSinceMs = undefined;
        const { fraction, perSecond, remainingMs } = this.#figures;
        await history?.add(shards, now, { fraction, perSecond, remainingMs });
      } else this.#failedSinceMs ??= beganMs;
    } catch {
      // The work handles an unreadable store or clock: it retries, and reports the failure in the end.
      this.#failedSinceMs ??= beganMs;
    }
    const tookMs = performance.now() - beganMs;
    this.#nextLookMs = beganMs + Math.max(Math.min(view.everyMs, LOOK_EVERY_MS), tookMs / MAX_SHARE);
  }

  /** What was done since the last look belongs to the history, too. */
  async #endHistory(): Promise<void> {
    const { opened, request, history } = this.#options;
    if (history === undefined) return;
    try {
      const shards: ShardRecord[] = [];
      const read = await readOverview(opened, request, this.#estimate, (record) => void shards.push(record));
      const { fraction, perSecond } = this.#figures;
      if (read.ok) await history.add(shards, await opened.clock.now(), { fraction, perSecond });
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
      this.#left = { overview, estimate, work: estimateWork(shardWorkOf(overview.rows), estimate) };
    return this.#left.work;
  }

  #outage(nowMs: number): Outage | undefined {
    const isSlow = this.#look !== undefined && nowMs - this.#lookBeganMs > UNRESPONSIVE_MS;
    return shownOutage(this.#options.own.outage, this.#failedSinceMs ?? (isSlow ? this.#lookBeganMs : undefined));
  }

  #shown(overview: RunOverview, nowMs: number): RunProgressShown {
    const { own, worker, itemsBefore, isStopping } = this.#options;
    const { remainingMs } = this.#figures;
    const held = own.progress?.held ?? 0;
    const { earliestDeadline, states } = overview;
    // The overview is older than what this process knows about itself, so it may still show a shard as its own.
    const isOwn = overview.rows.some(({ leaseOwner }) => leaseOwner === worker);
    const isWaiting = own.progress !== undefined && held === 0 && !isOwn && states.leased > 0 && states.waiting === 0;
    const outage = this.#ending.signal.aborted ? undefined : this.#outage(nowMs);
    return {
      overview,
      elapsedMs: nowMs - this.#startMs,
      itemsBefore,
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

function withTime({ what, sinceMs }: Outage, nowMs: number): NonNullable<RunProgressShown["outage"]> {
  const forMs = Math.max(0, nowMs - sinceMs);
  return { what, forMs, since: new Date(Date.now() - forMs) };
}
