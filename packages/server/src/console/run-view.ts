import type { Clock, LogicalTime } from "@gossip/contracts";
import { RunStatus, type ShardId, type WorkerId } from "@gossip/contracts";
import type {
  Coordinator,
  CoordinationStore,
  RunProgress,
  RunRecord,
  RunRequest,
  RunSettings,
} from "@gossip/coordination";
import {
  continueHistory,
  HistoryRecorder,
  keyCodecOf,
  NO_LABEL,
  readHistory,
  recentRate,
  RunSampler,
  type AxisBuckets,
  type KeyAxis,
  type RunHistory,
  type RunLabel,
  type RunSample,
} from "@gossip/insight";
import type { ConsoleEventLog } from "./console-event-log.ts";
import { planRun, SKETCH_FROM, sketchRun, type RunPlan } from "./first-picture.ts";
import { isSilent } from "./history-writer.ts";
import { KeptProgress } from "./kept-progress.ts";
import { KeyShower } from "./key-shower.ts";
import { PacedWork } from "./paced-work.ts";
import { visitShards, type ShardPassOptions } from "./shard-pass.ts";

export interface RunViewOptions {
  readonly store: CoordinationStore;
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly events: ConsoleEventLog;
  readonly isHiding: boolean;
  readonly everyMs: number;
  /** Write nothing to the store. */
  readonly isReadOnly: boolean;
  /** Names this process as the writer of the history. */
  readonly writer: string;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Permission to work for a run that this node owns. Call the result when done. `undefined` if another node owns it. */
  readonly admit: (run: RunRequest) => (() => void) | undefined;
}

const MAX_WORKERS = 1000;
/** The share of time that looks may take: a run with very many shards is looked at less often. */
const SHARE = 0.05;
/** The same for a run that no page shows. Only its history is kept. */
const UNWATCHED_SHARE = 0.01;
/** A run that no page shows is looked at less often by this factor. */
const UNWATCHED_PACE = 5;
const FIRST_SHARE = 0.5;
/** The same for finding out where the shards lie, until which there is nothing to show. */
const PLAN_SHARE = 0.8;
/** A look that is older shows other states of shards than the store's counts. */
const OLD_MS = 10_000;
/** A view that no request asks for is not kept up to date. */
const LIFE_MS = 30_000;
/** How long after its start requests wait for a look. All of them together: a browser sends only a few at once. */
const PATIENCE_MS = 3000;

/** What is known of a run at the last look. */
export interface Counted {
  readonly sample: RunSample;
  readonly tookMs: number;
  /** Whether the run had ended when the look began. */
  readonly isLast: boolean;
}

/**
 * A run as a page shows it. Looks at all its shards once a second, or less often if there are many, while someone asks.
 *
 * Requests are answered from the last look, so that their cost does not depend on the number of shards.
 */
export class RunView {
  readonly request: RunRequest;
  readonly #options: RunViewOptions;
  readonly #recorder: HistoryRecorder;
  readonly #progress: KeptProgress;
  #record: RunRecord;
  #plan: RunPlan | undefined;
  /** Estimates, until all shards are counted. */
  #sketch: AxisBuckets | undefined;
  #sampler: RunSampler | undefined;
  #counted: Counted | undefined;
  #settings: RunSettings | undefined;
  #untilMs = 0;
  #watchedUntilMs = 0;
  #countedMs = -Infinity;
  #looking: Promise<void> | undefined;
  #lookingSinceMs = 0;
  /** How many shards the look that is under way has read, and how many it will read. */
  #reading: { read: number; readonly expected: number } | undefined;
  #looping: Promise<void> | undefined;
  /** Ends the pause between two looks. */
  #wake: (() => void) | undefined;
  #isClosed = false;
  #stored: { readonly atMs: number; readonly history: RunHistory } | undefined;

  constructor(record: RunRecord, options: RunViewOptions) {
    const { tenant, run } = record;
    this.request = { tenant, run };
    this.#record = record;
    this.#options = options;
    const { store, coordinator, writer, isReadOnly, nowMs } = options;
    this.#progress = new KeptProgress({ coordinator, request: this.request, share: SHARE, nowMs });
    this.#recorder = new HistoryRecorder({ store, run: this.request, writer, isReadOnly });
  }

  get run(): RunRecord {
    return this.#record;
  }

  get label(): RunLabel {
    return this.#plan?.label ?? NO_LABEL;
  }

  get axis(): KeyAxis | undefined {
    return this.#plan?.axis;
  }

  /** The shards by position and state: counted, or estimated from a sample. `undefined` if neither is done. */
  get buckets(): AxisBuckets | undefined {
    return this.#counted?.sample.buckets ?? this.#sketch;
  }

  get counted(): Counted | undefined {
    return this.#counted;
  }

  /** Which part of the first look is done, from 0 to 1. */
  get countedShare(): number {
    if (this.#counted !== undefined) return 1;
    return this.#reading === undefined ? 0 : Math.min(1, this.#reading.read / Math.max(1, this.#reading.expected));
  }

  /** Whether the store's counts are newer than the last look: very many shards are counted less often. */
  get isOld(): boolean {
    return !this.#isFinal && this.#options.nowMs() > this.#countedMs + Math.max(OLD_MS, 2 * this.#options.everyMs);
  }

  get isLive(): boolean {
    return this.#options.nowMs() < this.#untilMs;
  }

  get keys(): KeyShower {
    return new KeyShower({
      axis: this.axis,
      codec: keyCodecOf(this.label.source),
      isHiding: this.#options.isHiding,
    });
  }

  /** The run's record as it was just read. A look at very many shards takes long, and the run may end meanwhile. */
  observe(record: RunRecord): void {
    const before = this.#record;
    if (record.lastTime < before.lastTime) return;
    this.#record = record;
    if (before.status === record.status) return;
    this.#options.events.add(this.request, { kind: `Run${record.status}`, atMs: Number(record.lastTime) });
  }

  /** Keep looking for a while, because someone watches. */
  touch(lifeMs = LIFE_MS): void {
    this.#watchedUntilMs = Math.max(this.#watchedUntilMs, this.#options.nowMs() + lifeMs);
    this.record(lifeMs);
  }

  /** Keep looking for a while, but only now and then, because the history is to be kept. */
  record(lifeMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#options.nowMs() + lifeMs);
    if (this.#looping === undefined && !this.#isClosed)
      this.#looping = this.#loop().finally(() => (this.#looping = undefined));
  }

  /** Wait until there is a look that is not old, but not for long. */
  async fresh(): Promise<void> {
    const age = this.#options.nowMs() - this.#countedMs;
    this.touch();
    const allowed = Math.max(2 * this.#options.everyMs, (2 * (this.#counted?.tookMs ?? 0)) / SHARE);
    if (this.#isFinal || age < allowed) return;
    const look = this.#look();
    // Very many shards are not counted in time. The store's counts, and soon a sample, are there before.
    if (this.#counted === undefined && ((await this.progress())?.total ?? 0) >= SKETCH_FROM) return;
    await this.#patiently(look);
  }

  /** The counts of the store, for as long as there is no look. */
  progress(): Promise<RunProgress | undefined> {
    return this.#progress.read();
  }

  /** Look now, because something was changed. */
  async refresh(): Promise<void> {
    const looked = (this.#looking ?? Promise.resolve()).then(() => this.#look());
    await Promise.race([looked, this.#options.sleep(PATIENCE_MS)]);
  }

  /** The history: this process's own if it writes it, else as it is stored, and what was seen since its writer is silent. */
  async history(): Promise<RunHistory> {
    if (this.#recorder.isWriter) return this.#recorder.history;
    const nowMs = this.#options.nowMs();
    if (this.#stored !== undefined && nowMs < this.#stored.atMs + this.#options.everyMs) return this.#stored.history;
    const stored = await readHistory(this.#options.store, this.request);
    const seen = this.#recorder.history;
    const history =
      stored === undefined ? seen : this.#isWriterGone(stored) ? continueHistory({ stored, seen }) : stored;
    this.#stored = { atMs: nowMs, history };
    return history;
  }

  #isWriterGone({ writer }: RunHistory): boolean {
    return writer === undefined || (!this.#isOver && isSilent(writer, this.#counted?.sample.atMs ?? 0));
  }

  /** A worker whose lease was gone tried to write. */
  reject(shard: ShardId, worker: WorkerId, atMs: number): void {
    this.#recorder.reject({ shard, worker, atMs });
    this.#options.events.add(this.request, { kind: "WriterRejected", atMs, shard, worker });
  }

  /** Stop looking. */
  close(): void {
    this.#isClosed = true;
    this.#untilMs = 0;
    this.#wake?.();
  }

  /** Wait until nothing is read or written any more. */
  async closed(): Promise<void> {
    this.close();
    await this.#looping;
    await this.#looking;
  }

  get #isWatched(): boolean {
    return this.#options.nowMs() < this.#watchedUntilMs;
  }

  /** Someone waits for the first look. */
  get #share(): number {
    if (!this.#isWatched) return UNWATCHED_SHARE;
    return this.#counted === undefined ? FIRST_SHARE : SHARE;
  }

  get #isOver(): boolean {
    return RunStatus.isTerminal(this.#record.status);
  }

  /** Whether no shard of the run can change any more. */
  get #isFinal(): boolean {
    return this.#counted?.isLast === true && this.#counted.sample.states.leased === 0;
  }

  async #loop(): Promise<void> {
    const { nowMs, sleep } = this.#options;
    while (!this.#isClosed && nowMs() < this.#untilMs) {
      await this.#look();
      if (this.#isFinal) break;
      const pauseMs = this.#options.everyMs * (this.#isWatched ? 1 : UNWATCHED_PACE);
      await Promise.race([sleep(pauseMs), new Promise<void>((resolve) => (this.#wake = resolve))]);
    }
    // A process that stops watching lets another write.
    if (this.#recorder.isWriter) await this.#recorder.flush(await this.#nowOr(0), { isLast: true });
  }

  /** One look at a time: a request that comes meanwhile waits for the one that is under way. */
  #look(): Promise<void> {
    if (this.#looking === undefined) this.#lookingSinceMs = this.#options.nowMs();
    this.#looking ??= this.#lookIfOwned()
      // A store that fails leaves the view as it was. The next look tries again.
      .catch(() => undefined)
      .finally(() => (this.#looking = this.#reading = undefined));
    return this.#looking;
  }

  async #lookIfOwned(): Promise<void> {
    const release = this.#options.admit(this.request);
    if (release === undefined) return this.close();
    try {
      await this.#lookOnce();
    } finally {
      release();
    }
  }

  async #lookOnce(): Promise<void> {
    const { coordinator, nowMs, sleep, events } = this.#options;
    const record = await coordinator.getRun(this.request);
    if (!record.ok) {
      if (record.error.kind === "RunNotFound") this.#deleted(await this.#nowOr(Number(this.#record.lastTime)));
      return;
    }
    this.observe(record.value);
    if (this.#isFinal) return;
    const pace = new PacedWork({ share: this.#share, nowMs, sleep });
    if (record.value.status === "Initializing") return;
    const pass = this.#passOf(pace);
    const plan = await this.#planOnce(pass);
    if (plan === undefined) return;
    this.#sampler ??= new RunSampler({ axis: plan.axis, leaseMs: Number(record.value.config.leaseDuration) });
    const sampler = this.#sampler;
    let now: LogicalTime | undefined;
    const isComplete = await visitShards(pass, (shards, at) => {
      now = at;
      for (const shard of shards) sampler.visit(shard, at);
      if (this.#reading !== undefined) this.#reading.read += shards.length;
    });
    if (!isComplete || now === undefined) {
      // A part of a look is no look. The next one starts from nothing.
      this.#sampler = undefined;
      return;
    }
    const sample = sampler.end(now);
    this.#counted = { sample, tookMs: pace.workedMs, isLast: RunStatus.isTerminal(record.value.status) };
    this.#countedMs = nowMs();
    this.#sketch = undefined;
    const nameOf = await this.#nameWorkers(sample);
    for (const change of sample.changes) events.add(this.request, { ...change, workerName: nameOf(change.worker) });
    await this.#lookAtSettings(sample.atMs);
    events.tell(this.request, "Counted", sample.atMs);
    await this.#recordHistory(sample);
  }

  /** What the workers of the changes call themselves. */
  async #nameWorkers({ changes }: RunSample): Promise<(worker: WorkerId | undefined) => string | undefined> {
    if (changes.every(({ worker }) => worker === undefined)) return () => undefined;
    const page = await this.#options.coordinator.listWorkers({ ...this.request, limit: MAX_WORKERS });
    const names = new Map((page.ok ? page.value.items : []).map(({ worker, name }) => [worker, name]));
    return (worker) => (worker === undefined ? undefined : names.get(worker));
  }

  async #recordHistory(sample: RunSample): Promise<void> {
    if (this.#isOver && sample.newItems === 0 && sample.changes.length === 0) return;
    const { rollups } = this.#recorder.history;
    this.#recorder.add(sample, { fraction: sample.doneShare, perSecond: recentRate(rollups, sample.atMs) });
    await this.#recorder.flush(sample.atMs, { isLast: this.#isOver });
  }

  async #lookAtSettings(atMs: number): Promise<void> {
    const read = await this.#options.coordinator.getRunSettings(this.request);
    if (read.ok) this.observeSettings(read.value, atMs);
  }

  /** The run's settings as they were just read. */
  observeSettings(settings: RunSettings, atMs: number): void {
    const before = this.#settings;
    this.#settings = settings;
    const { paused, itemsPerSecond, concurrency } = settings;
    const isSame =
      before?.paused === paused && before.itemsPerSecond === itemsPerSecond && before.concurrency === concurrency;
    if (before !== undefined && !isSame) this.#options.events.add(this.request, { kind: "SettingsChanged", atMs });
  }

  #deleted(atMs: number): void {
    if (!this.#isClosed) this.#options.events.add(this.request, { kind: "RunDeleted", atMs });
    this.close();
  }

  /** Before the first look: where the keys of the run lie, and estimates if counting takes long. */
  async #planOnce(pass: ShardPassOptions): Promise<RunPlan | undefined> {
    if (this.#counted !== undefined) return this.#plan;
    const { coordinator, events } = this.#options;
    const progress = await this.progress();
    this.#reading = { read: 0, expected: progress?.total ?? 0 };
    // Short, and in short steps: positions are read three times as fast as shards.
    const pace = new PacedWork({ ...this.#options, share: this.#isWatched ? PLAN_SHARE : UNWATCHED_SHARE });
    this.#plan ??= await planRun({ ...pass, pace });
    if (this.#plan === undefined || this.#plan.sample.length === 0 || progress === undefined) return this.#plan;
    const leafCount = progress.total - progress.split;
    this.#sketch = await sketchRun(pass, { ...this.#plan, leafCount }, coordinator);
    events.tell(this.request, "Counted", await this.#nowOr(0));
    return this.#plan;
  }

  #passOf(pace: PacedWork): ShardPassOptions {
    const { store, clock } = this.#options;
    return { store, clock, request: this.request, pace, isClosed: () => this.#isClosed };
  }

  async #nowOr(other: number): Promise<number> {
    try {
      return Number(await this.#options.clock.now());
    } catch {
      return other;
    }
  }

  async #patiently(work: Promise<void>): Promise<void> {
    const { nowMs, sleep } = this.#options;
    const leftMs = this.#lookingSinceMs + PATIENCE_MS - nowMs();
    if (leftMs > 0) await Promise.race([work, sleep(leftMs)]);
  }
}
