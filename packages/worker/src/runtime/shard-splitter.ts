import type { RunStatus, SplitResidualPlan } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { compareBytes } from "@gossip/stdx";
import {
  expectedHandoverMs,
  paceMs,
  partCount,
  tailCuts,
  type Rest,
  type SplitPolicy,
} from "../policy/split-policy.ts";
import type { Item, Source, SplitRequest } from "../sources/source.ts";
import { KeySampler } from "../split/key-sampler.ts";
import { planSplit } from "../split/plan-split.ts";
import { splitPoints } from "../split/split-points.ts";
import { sleep } from "../time/worker-time.ts";
import { isLeaseGone } from "./lease-gone.ts";
import type { ShardHost } from "./shard-host.ts";
import type { Shareable } from "./work-sharing.ts";
import type { LossCause } from "./worker-event.ts";

/** The state of a shard's work that matters for splitting it. */
export interface SharedWork {
  readonly signal: AbortSignal;
  /** The last key that was started. */
  startedKey(): Uint8Array | undefined;
  /** When the first item was started. */
  workingSinceMs(): number | undefined;
  /** Whether its items are started one by one, because one of them may have killed earlier holders. */
  isCareful(): boolean;
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
/** The most split points to ask a source for at once: each may cost it a search. */
const MAX_ADVICE = 4;

/** Splits a shard for idle workers, at the point where half of the remaining work is expected. */
export class ShardSplitter<I extends Item, R> implements Shareable {
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
  #hasOfferedTail = false;
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
  note(item: Pick<Item, "key">): void {
    this.#itemCount++;
    this.#sampler.add(item);
  }

  /** Whether an item must not be started here, or not before a split is settled. Hot: called for each item. */
  isAbove(item: Pick<Item, "key">): boolean {
    return this.#ceiling !== undefined && compareBytes(item.key, this.#ceiling) >= 0;
  }

  /** How much work a split is expected to hand over, in milliseconds. 0 if a split is not worth it. */
  expectedHandoverMs(nowMs: number): number {
    const splitPolicy = this.#policy;
    if (splitPolicy === undefined) return 0;
    const [aheadCount, isEndKnown] = [this.#work.aheadCount(), this.#work.isEndKnown()];
    const held = {
      heldSinceMs: this.#heldSinceMs,
      // The same for a shard whose last holder stored nothing: it is not split before it has been held for a while.
      workingSinceMs: this.#session.attempts > 1 ? undefined : this.#work.workingSinceMs(),
      lastSplitMs: this.#lastSplitMs,
      missCount: this.#missCount,
      itemCount: this.#itemCount,
      earlierMs: this.#host.counts.earlierMs,
    };
    return expectedHandoverMs(splitPolicy, { nowMs, ...held, aheadCount, isEndKnown });
  }

  /** `undefined` if the shard must not be split now. */
  get #policy(): SplitPolicy | undefined {
    // A split would hide that items of this shard may kill their process: a new shard has no earlier holders.
    const isUnfit = this.#isRefused || this.#isSplitting || this.#work.isStopped() || this.#work.isCareful();
    return isUnfit ? undefined : this.#host.settings.splitPolicy;
  }

  /** The shard is no longer held. */
  close(): void {
    const { counts, settings } = this.#host;
    counts.earlierHoldMs += settings.time.nowMs() - this.#heldSinceMs;
    counts.earlierItems += this.#itemCount;
  }

  /** Split off work for up to `parts` others, if possible. */
  async split(parts: number): Promise<void> {
    if (!this.#isSplitting) await this.#splitAt(() => this.#choosePoints(parts));
  }

  /**
   * Split off the last few items once they are near, at most once. A hold that has finished nothing does not do so, nor
   * does one whose last holder stored nothing: every hold must leave less work than it found.
   */
  async offerTail(nowMs: number): Promise<void> {
    const policy = this.#policy;
    if (policy === undefined || this.#hasOfferedTail || !this.#work.isEndKnown()) return;
    if (this.#itemCount === 0 || this.#session.attempts > 1) return;
    const cuts = tailCuts(policy, this.#rest(nowMs));
    if (cuts.length === 0) return;
    this.#hasOfferedTail = true;
    const ahead = this.#work.ahead();
    await this.#splitAt(() => cuts.map((index) => ahead[index]!.key));
  }

  async #splitAt(choosePoints: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>): Promise<void> {
    this.#isSplitting = true;
    this.#lastSplitMs = this.#host.settings.time.nowMs();
    this.#missCount++;
    try {
      const points = await choosePoints();
      // From the top down: each cut leaves the part above it to another holder.
      for (const point of points.toReversed()) {
        const plan = planSplit(this.#session.spec, this.#session.cursor, point);
        if (plan === undefined || !this.#isAhead(plan.residualSpec.keyRangeStart)) continue;
        if (!(await this.#splitBy(plan))) return;
      }
    } finally {
      this.#isSplitting = false;
      this.#work.onSettled();
    }
  }

  async #choosePoints(parts: number): Promise<readonly Uint8Array[]> {
    const { source, splitPolicy, time } = this.#host.settings;
    const [startedKey, isEndKnown] = [this.#work.startedKey(), this.#work.isEndKnown()];
    const { keyRangeStart: start, keyRangeEnd: end } = this.#session.spec;
    const range = { start, end };
    const { keys: samples } = this.#sampler;
    if (source.splitPoint !== undefined && !isEndKnown) {
      try {
        return await adviceOf(source, { range, after: startedKey, samples }, parts);
      } catch {
        // A split point is only advice, and the source has none at the moment.
        return [];
      }
    }
    const ahead = this.#work.ahead().map(({ key }) => key);
    const rest = this.#rest(time.nowMs());
    const aheadMs = rest.itemMs * rest.aheadCount;
    const worthwhile = isEndKnown && splitPolicy !== undefined ? partCount(splitPolicy, rest, parts) : parts;
    return splitPoints({ range, startedKey, samples, ahead, isEndKnown, aheadMs }, worthwhile);
  }

  #rest(nowMs: number): Rest {
    const heldMs = nowMs - this.#heldSinceMs;
    const { earlierMs } = this.#host.counts;
    const itemMs = paceMs({ heldMs, itemCount: this.#itemCount, earlierMs });
    return { aheadCount: this.#work.aheadCount(), itemMs };
  }

  /** The work continued while the source searched: keys started in the meantime stay in this shard. */
  #isAhead(cut: Uint8Array): boolean {
    const startedKey = this.#work.startedKey();
    return startedKey === undefined || compareBytes(cut, startedKey) > 0;
  }

  /** Returns whether the shard was split. */
  async #splitBy(plan: SplitResidualPlan): Promise<boolean> {
    const { settings, counts, emit } = this.#host;
    const { shard } = this.#session.shardKey;
    const ceilingBefore = this.#ceiling;
    const cut = plan.residualSpec.keyRangeStart;
    this.#ceiling = cut;
    const opId = settings.newOpId();
    // A split with an unknown outcome may have been committed. Start nothing above the cut until the outcome is known.
    while (!this.#work.isStopped()) {
      const askedMs = settings.time.nowMs();
      const answer = await this.#session.splitResidual(plan, { opId });
      if (answer.ok) {
        this.#host.storeWorked("split", settings.time.nowMs() - askedMs);
        this.#work.onSplit(cut);
        this.#missCount = 0;
        counts.splits++;
        emit({ kind: "ShardSplit", shard, residual: answer.value.value.residual });
        return true;
      }
      const { error } = answer;
      if (error.kind === "RunTerminal") this.#work.onRunEnded(error.status);
      else if (isLeaseGone(error)) this.#work.onLost(error.kind);
      else if (error.kind === "BackendError") {
        emit({ kind: "StoreFailed", shard, operation: "split", error });
        this.#host.store.failed();
        await sleep(settings.time, RETRY_MS, this.#work.signal);
        continue;
      } else {
        // The shard has spawned too many shards, or the store is full. Neither changes while the shard is held.
        this.#isRefused = true;
        this.#ceiling = ceilingBefore;
      }
      return false;
    }
    return false;
  }
}

/** The source's split points: half of the rest, then half of each half, until there are enough. */
async function adviceOf(source: Source, request: SplitRequest, count: number): Promise<readonly Uint8Array[]> {
  const points: Uint8Array[] = [];
  const rest: SplitRequest[] = [request];
  for (
    let next = rest.shift();
    next !== undefined && points.length < Math.min(count, MAX_ADVICE);
    next = rest.shift()
  ) {
    const point = await source.splitPoint?.(next);
    if (point === undefined) continue;
    points.push(point);
    const { start, end } = next.range;
    rest.push({ ...next, range: { start: point, end }, after: undefined }, { ...next, range: { start, end: point } });
  }
  return points.toSorted(compareBytes);
}
