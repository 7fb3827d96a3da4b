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

/** How the work on a shard stands, as far as sharing it goes. */
export interface SharedWork {
  readonly signal: AbortSignal;
  /** The last key that was begun. */
  startedKey(): Uint8Array | undefined;
  isEndKnown(): boolean;
  aheadCount(): number;
  /** Items that were read and not begun. */
  ahead(): readonly Item[];
  isStopped(): boolean;
  /** The shard now ends here. */
  onSplit(end: Uint8Array): void;
  /** Items may be begun that had to wait. */
  onSettled(): void;
  onRunEnded(status: RunStatus): void;
  onLost(cause: LossCause): void;
}

const RETRY_MS = 100;

/** Cuts a shard for workers that wait, where half of the remaining work is expected. */
export class ShardSplitter<I extends Item, R> {
  readonly #host: ShardHost<I, R>;
  readonly #session: WorkerSession;
  readonly #work: SharedWork;
  readonly #sampler = new KeySampler();
  readonly #heldSinceMs: number;
  #itemCount = 0;
  /** Items from here on are not begun: they are another's, or about to be. */
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

  /** An item is finished. Hot: called for each. */
  note(key: Uint8Array): void {
    this.#itemCount++;
    this.#sampler.add(key);
  }

  /** Whether an item is not to be begun here, or not before a split is settled. Hot: asked for each. */
  isAbove(key: Uint8Array): boolean {
    return this.#ceiling !== undefined && compareBytes(key, this.#ceiling) >= 0;
  }

  /** How much work a split is expected to hand over, in milliseconds; 0 where it is not worth it. */
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

  /** Split, where that turns out to be possible. */
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
        // Advice, and the source has none to give just now.
        return undefined;
      }
    }
    const ahead = this.#work.ahead().map(({ key }) => key);
    const heldMs = this.#host.settings.time.nowMs() - this.#heldSinceMs;
    const aheadMs = paceMs({ heldMs, itemCount: this.#itemCount }) * ahead.length;
    return splitPoint({ range, startedKey, samples, ahead, isEndKnown, aheadMs });
  }

  /** The work went on while the source looked: what was begun meanwhile stays here. */
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
    // A split of unknown fate may have been made. Until it is known nothing above the cut is begun.
    while (!this.#work.isStopped()) {
      const answer = await this.#session.splitResidual(plan, { opId });
      if (answer.ok) {
        this.#work.onSplit(cut);
        this.#missCount = 0;
        counts.splits++;
        return emit({ kind: "ShardSplit", shard, residual: answer.value.value.residual });
      }
      const { error } = answer;
      if (error.kind === "RunTerminal") return this.#work.onRunEnded(error.status);
      if (isLeaseGone(error)) return this.#work.onLost(error.kind);
      if (error.kind !== "BackendError") {
        // It has spawned too many, or the store has no room: neither passes while the shard is held.
        this.#isRefused = true;
        this.#ceiling = ceilingBefore;
        return;
      }
      emit({ kind: "StoreFailed", shard, operation: "split", error });
      await sleep(settings.time, RETRY_MS, this.#work.signal);
    }
  }
}
