import { compareBytes } from "@gossip/stdx";
import type { Item, ItemBatch, ItemProblem } from "../sources/source.ts";
import type { CarefulStart } from "./careful-start.ts";
import type { CrashGate, GatedShard } from "./crash-gate.ts";
import { ItemCrashed, SUSPECTED_FROM } from "./crash-suspicion.ts";
import type { ItemFlow } from "./item-flow.ts";
import type { ShardHost } from "./shard-host.ts";
import type { Fetched, ReadFailure, ShardReader } from "./shard-reader.ts";
import type { ShardSplitter } from "./shard-splitter.ts";
import type { Upkeep } from "./upkeep.ts";
import type { Wakeup } from "./wakeup.ts";

const NO_ITEMS: readonly never[] = [];

/** The parts of a shard runner that the feed works with. */
export interface FeedParts<I extends Item, R> {
  readonly reader: ShardReader<I>;
  readonly flow: ItemFlow<I, R>;
  readonly splitter: ShardSplitter<I, R>;
  readonly upkeep: Upkeep;
  readonly wakeup: Wakeup;
  readonly gate: CrashGate;
  readonly shard: GatedShard;
  readonly isStopped: () => boolean;
  /** The source has a problem at this key, and problems park the shard. */
  readonly onProblem: (problem: ItemProblem) => void;
  readonly onReadFailure: (failure: ReadFailure) => void;
  /** An invariant was broken. */
  readonly onBug: (error: unknown) => void;
}

/** Reads a shard's items and starts them in key order, as fast as the flow takes them. */
export class ItemFeed<I extends Item, R> {
  readonly #host: ShardHost<I, R>;
  readonly #parts: FeedParts<I, R>;
  /** The current batch, and how many of its items were started. */
  #batch: readonly I[] = NO_ITEMS;
  #begun = 0;
  /** The last item that was started. Its key is read when it is needed: a source may make it each time. */
  #started: { readonly key: Uint8Array } | undefined;
  #workingSinceMs: number | undefined;
  #crashedKey: Uint8Array | undefined;
  #careful: CarefulStart<I, R> | undefined;

  /** `after` is the shard's cursor. */
  constructor(host: ShardHost<I, R>, after: Uint8Array | undefined, parts: FeedParts<I, R>) {
    this.#host = host;
    this.#started = after && { key: after };
    this.#parts = parts;
  }

  /** The last key that was started. */
  get startedKey(): Uint8Array | undefined {
    return this.#started?.key;
  }

  /** When the first item was started. */
  get workingSinceMs(): number | undefined {
    return this.#workingSinceMs;
  }

  /** The number of items that were read but not started. */
  get aheadCount(): number {
    return this.#batch.length - this.#begun + this.#parts.reader.ahead.length;
  }

  /** Items that were read but not started. */
  ahead(): readonly I[] {
    return [...this.#batch.slice(this.#begun), ...this.#parts.reader.ahead];
  }

  /** The shard ends at `end` now: the items from there on are no longer ahead. */
  narrow(end: Uint8Array): void {
    const count = this.#batch.findIndex(({ key }) => compareBytes(key, end) >= 0);
    if (count >= 0) this.#batch = this.#batch.slice(0, count);
  }

  /** Earlier holders died of the item at this key: give up on it. */
  setAside(key: Uint8Array): void {
    this.#crashedKey = key;
  }

  /** Earlier holders may have died of an item: start the next ones one by one. */
  beCareful(careful: CarefulStart<I, R>): void {
    this.#careful = careful;
  }

  /** Whether items are started one by one. */
  get isCareful(): boolean {
    return this.#careful !== undefined;
  }

  /** Start every item, and wait until all are finished or the work has to stop. */
  async run(): Promise<void> {
    const { flow, wakeup, isStopped, onReadFailure } = this.#parts;
    while (!isStopped()) {
      const next = await this.#nextBatch();
      if (next.kind === "End" || isStopped()) break;
      if (next.kind === "ReadFailure") return onReadFailure(next);
      await this.#start(next.batch);
    }
    this.#batch = NO_ITEMS;
    this.#begun = 0;
    while (!isStopped() && (flow.isBusy || !flow.isDrained)) await wakeup.wait();
  }

  /** Returns the next batch, or the end as soon as the work has to stop, even if the source hangs. */
  async #nextBatch(): Promise<Fetched<I>> {
    const { reader, wakeup, isStopped, onBug } = this.#parts;
    let fetched: Fetched<I> | undefined;
    reader.next().then((next) => {
      fetched = next;
      wakeup.poke();
    }, onBug);
    while (fetched === undefined && !isStopped()) await wakeup.wait();
    return fetched ?? { kind: "End" };
  }

  async #start({ items, problems = NO_ITEMS }: ItemBatch<I>): Promise<void> {
    const { flow, splitter, upkeep, wakeup, isStopped } = this.#parts;
    const { time } = this.#host.settings;
    let passed = 0;
    this.#batch = items;
    this.#workingSinceMs ??= time.nowMs();
    for (this.#begun = 0; this.#begun < items.length;) {
      const item = items[this.#begun]!;
      while (passed < problems.length && compareBytes(problems[passed]!.key, item.key) < 0)
        await this.#pass(problems[passed++]!);
      while (!isStopped() && !this.#mayBegin(item)) await wakeup.wait();
      if (isStopped() || splitter.isAbove(item)) return;
      this.#begun++;
      this.#started = item;
      if (this.#careful !== undefined || this.#crashedKey !== undefined) {
        await this.#startSuspect(item);
        continue;
      }
      flow.begin(item);
      const nowMs = time.nowMs();
      if (upkeep.isDue(nowMs)) {
        await upkeep.keepUp();
        // Yield first: the write is issued only once the event loop has had its turn.
        await this.#host.yieldToLoop();
      } else if (this.#host.isSliceOver(nowMs)) await this.#host.yieldToLoop();
    }
    while (passed < problems.length && !isStopped()) await this.#pass(problems[passed++]!);
  }

  async #startSuspect(item: I): Promise<void> {
    const { flow, upkeep } = this.#parts;
    const order = this.#crashedKey === undefined ? 0 : compareBytes(item.key, this.#crashedKey);
    if (this.#crashedKey !== undefined && order >= 0) this.#crashedKey = undefined;
    if (this.#careful === undefined && order === 0) {
      flow.giveUp(item, { attempts: SUSPECTED_FROM, reason: "Crashed", cause: new ItemCrashed() });
      // Store it before the next item, which may end this process too: the marker would still name the last one.
      return upkeep.storeNow();
    }
    if (this.#careful === undefined) return flow.begin(item);
    await this.#careful.start(item);
    if (this.#careful.isOver) this.#careful = undefined;
  }

  #mayBegin(item: I): boolean {
    const { flow, splitter, gate, shard } = this.#parts;
    if (!flow.hasRoom || !gate.isOpenFor(shard) || (splitter.isSplitting && splitter.isAbove(item))) return false;
    return this.#host.limiter.mayStart();
  }

  /** Park the shard before the key of a problem, or skip the key at its position among the items. */
  async #pass(problem: ItemProblem): Promise<void> {
    const { flow, splitter, wakeup, isStopped, onProblem } = this.#parts;
    const mustWait = (): boolean => !flow.canAddProblem || (splitter.isSplitting && splitter.isAbove(problem));
    while (!isStopped() && mustWait()) await wakeup.wait();
    if (isStopped() || splitter.isAbove(problem)) return;
    if (this.#host.settings.onProblem === "park") return onProblem(problem);
    this.#started = problem;
    flow.pass(problem);
  }
}
