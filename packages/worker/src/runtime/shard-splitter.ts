import { OpId, type RunStatus, type SplitResidualPlan } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { compareBytes } from "@gossip/stdx";
import { expectedHandoverMs, paceMs } from "../policy/split-policy.ts";
import type { Item } from "../source/source.ts";
import { KeySampler } from "../split/key-sampler.ts";
import { planSplit } from "../split/plan-split.ts";
import { splitPoint } from "../split/split-point.ts";
import { sleep } from "../time/worker-time.ts";
import { isLeaseGone } from "./lease-gone.ts";
import type { ShardHost } from "./shard-host.ts";
import type { LossCause } from "./worker-event.ts";

/** The state of a shard's work that matters for splitting it. */
export interface SharedWork {
  readonly signal: AbortSignal;
  /** The last key that was started. */
  startedKey(): Uint8Array | undefined;
  isEndKnown(): boolean;
  aheadCount(): number;
  /** Items that were read but not started. */
  ahead(): readonly Item[];
  isStopped(): boolean;
  /** The shard now ends at this key. */
  onSplit(end: Uint8Array): void;
  /** Items that had to wait may be started. */
  onSettled(): void;
  onRunEnded(status: RunStatus): void;
  onLost(cause: LossCause): void;
}

const RETRY_MS = 100;

/** Splits a shard for idle workers, at the point where half of the remaining work is expected. */
export class ShardSplitter<I extends Item, R> {
  readonly #host: ShardHost<I, R>;
  readonly #session: WorkerSession;
  readonly #work: SharedWork;
  readonly #sampler = new KeySampler();
  readonly #heldSinceMs: number;
  #itemCount = 0;
  /** Items from this key on are not started: they belong to another shard, or are about to. */
  #ceiling: Uint8Array | undefined;
  #isSplitting = false;
  #isRefused = false;
  #lastSplitMs: number | undefined;
  #missCount = 0;

  constructor(host: ShardHost<I, R>, session: WorkerSession, work: SharedWork) {
    this.#host = host;
    this.#session = session;
    this.#work = work;
    this.#heldSinceMs = host.settings.time.nowMs();
  }

  get isSplitting(): boolean {
    return this.#isSplitting;
  }

  /** Record a finished item. Hot: called for each item. */
  note(key: Uint8Array): void {
    this.#itemCount++;
    this.#sampler.add(key);
  }

  /** Whether an item must not be started here, or not before a split is settled. Hot: called for each item. */
  isAbove(key: Uint8Array): boolean {
    return this.#ceiling !== undefined && compareBytes(key, this.#ceiling) >= 0;
  }

  /** How much work a split is expected to hand over, in milliseconds. 0 if a split is not worth it. */
  expectedHandoverMs(nowMs: number): number {
    const { splitPolicy } = this.#host.settings;
    if (splitPolicy === undefined || this.#isRefused || this.#isSplitting || this.#work.isStopped()) return 0;
    const [aheadCount, isEndKnown] = [this.#work.aheadCount(), this.#work.isEndKnown()];
    const held = {
      heldSinceMs: this.#heldSinceMs,
      lastSplitMs: this.#lastSplitMs,
      missCount: this.#missCount,
      itemCount: this.#itemCount,
    };
    return expectedHandoverMs(splitPolicy, { nowMs, ...held, aheadCount, isEndKnown });
  }

  /** Split the shard if possible. */
  async split(): Promise<void> {
    if (this.#isSplitting) return;
    this.#isSplitting = true;
    this.#lastSplitMs = this.#host.settings.time.nowMs();
    this.#missCount++;
    try {
      const point = await this.#choosePoint();
      const plan = point && planSplit(this.#session.spec, this.#session.cursor, point);
      if (plan !== undefined && this.#isAhead(plan.residualSpec.keyRangeStart)) await this.#splitBy(plan);
    } finally {
      this.#isSplitting = false;
      this.#work.onSettled();
    }
  }

  async #choosePoint(): Promise<Uint8Array | undefined> {
    const { source } = this.#host.settings;
    const [startedKey, isEndKnown] = [this.#work.startedKey(), this.#work.isEndKnown()];
    const { keyRangeStart: start, keyRangeEnd: end } = this.#session.spec;
    const range = { start, end };
    const { keys: samples } = this.#sampler;
    if (source.splitPoint !== undefined && !isEndKnown) {
      try {
        return await source.splitPoint({ range, after: startedKey, samples });
      } catch {
        // A split point is only advice, and the source has none at the moment.
        return undefined;
      }
    }
    const ahead = this.#work.ahead().map(({ key }) => key);
    const heldMs = this.#host.settings.time.nowMs() - this.#heldSinceMs;
    const aheadMs = paceMs({ heldMs, itemCount: this.#itemCount }) * ahead.length;
    return splitPoint({ range, startedKey, samples, ahead, isEndKnown, aheadMs });
  }

  /** The work continued while the source searched: keys started in the meantime stay in this shard. */
  #isAhead(cut: Uint8Array): boolean {
    const startedKey = this.#work.startedKey();
    return startedKey === undefined || compareBytes(cut, startedKey) > 0;
  }

  async #splitBy(plan: SplitResidualPlan): Promise<void> {
    const { settings, counts, emit } = this.#host;
    const { shard } = this.#session.shardKey;
    const ceilingBefore = this.#ceiling;
    const cut = plan.residualSpec.keyRangeStart;
    this.#ceiling = cut;
    const opId = OpId.random();
    // A split with an unknown outcome may have been committed. Start nothing above the cut until the outcome is known.
    while (!this.#work.isStopped()) {
      const askedMs = settings.time.nowMs();
      const answer = await this.#session.splitResidual(plan, { opId });
      if (answer.ok) {
        this.#host.storeWorked("split", settings.time.nowMs() - askedMs);
        this.#work.onSplit(cut);
        this.#missCount = 0;
        counts.splits++;
        return emit({ kind: "ShardSplit", shard, residual: answer.value.value.residual });
      }
      const { error } = answer;
      if (error.kind === "RunTerminal") return this.#work.onRunEnded(error.status);
      if (isLeaseGone(error)) return this.#work.onLost(error.kind);
      if (error.kind !== "BackendError") {
        // The shard has spawned too many shards, or the store is full. Neither changes while the shard is held.
        this.#isRefused = true;
        this.#ceiling = ceilingBefore;
        return;
      }
      emit({ kind: "StoreFailed", shard, operation: "split", error });
      this.#host.store.failed();
      await sleep(settings.time, RETRY_MS, this.#work.signal);
    }
  }
}
