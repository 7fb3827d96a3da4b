import type { LogicalTime, ShardId, WorkerId } from "@gossip/contracts";
import { isLeasedAt, type ShardRecord } from "@gossip/coordination";
import type { KeyAxis } from "../axis/key-axis.ts";
import { decodeTotalsToken, NO_ITEMS } from "../runs/item-totals.ts";
import { AxisBuckets, type LeafState } from "./axis-buckets.ts";
import type { RunChange } from "./run-change.ts";
import { ShardChanges } from "./shard-changes.ts";

/** Key buckets of the heat map. */
export const HEAT_KEYS = 1500;
/** Shards that were begun and are not over. More than this are not compared between looks. */
const MAX_TRACKED = 50_000;
/** A look takes time, and clocks differ: what ended so shortly before a look may not have been seen by it. */
const SLACK_MS = 5000;
/** A shard that was acquired so often without progress is reported as retrying. */
const RETRYING_FROM = 3;

export interface SampledStates extends Readonly<Record<LeafState, number>> {
  /** Shards that were replaced by others. They are not counted in the other states. */
  readonly split: number;
}

/** A run at one look. */
export interface RunSample {
  readonly atMs: number;
  /** When the previous look was. `undefined` for the first. */
  readonly sinceMs: number | undefined;
  readonly states: SampledStates;
  /** Shards that the run began with: those without a parent, split or not. */
  readonly initialShards: number;
  /** Items that are done and stored. `undefined` if the run's program does not count them. */
  readonly items: number | undefined;
  /** Items that were skipped or could not be read. */
  readonly failed: number;
  /** The share of the key axis that is done. */
  readonly doneShare: number;
  /** Items and failures since the previous look. */
  readonly newItems: number;
  readonly newFailures: number;
  /** Where the new items are: items by key bucket. */
  readonly heat: ReadonlyMap<number, number>;
  /** How many shards each worker holds. */
  readonly holders: ReadonlyMap<WorkerId, number>;
  readonly earliestDeadlineMs: number | undefined;
  /** Shards that were acquired several times without progress. */
  readonly retrying: number;
  /** One of them. */
  readonly retryingShard: ShardId | undefined;
  readonly buckets: AxisBuckets;
  readonly changes: readonly RunChange[];
}

interface Tracked {
  readonly items: number;
  readonly failed: number;
  readonly position: number;
}

/** Where a shard is on the axis. */
interface Placed {
  readonly state: LeafState;
  readonly from: number;
  /** Up to where it is done. */
  readonly cursor: number | undefined;
  readonly nowMs: number;
}

/** The numbers of a look that is in progress. */
class Tally {
  readonly states: Record<keyof SampledStates, number> = { done: 0, leased: 0, waiting: 0, parked: 0, split: 0 };
  readonly heat = new Map<number, number>();
  readonly holders = new Map<WorkerId, number>();
  readonly buckets = new AxisBuckets();
  readonly tracked = new Map<ShardId, Tracked>();
  initialShards = 0;
  items: number | undefined;
  failed = 0;
  newItems = 0;
  newFailures = 0;
  width = 0;
  doneWidth = 0;
  retrying = 0;
  retryingShard: ShardId | undefined;
  earliestDeadlineMs: number | undefined;
}

/**
 * Counts the shards of a run, look by look, and compares each look with the one before.
 *
 * Its memory is bounded: it keeps counts by bucket, and single values only of shards that are begun and not over.
 */
export class RunSampler {
  readonly #axis: KeyAxis;
  readonly #changes: ShardChanges;
  #before: ReadonlyMap<ShardId, Tracked> = new Map();
  #sinceMs: number | undefined;
  #tally = new Tally();

  constructor({ axis, leaseMs }: { readonly axis: KeyAxis; readonly leaseMs: number }) {
    this.#axis = axis;
    this.#changes = new ShardChanges(leaseMs);
  }

  /** Add a shard to the look. Shards must come in key order. */
  visit(record: ShardRecord, now: LogicalTime): void {
    this.#changes.visit(record, now);
    const tally = this.#tally;
    if (record.parent === undefined) tally.initialShards++;
    if (record.status === "Split") {
      tally.states.split++;
      return;
    }
    const state = leafStateOf(record, now);
    tally.states[state]++;
    const from = this.#axis.position(record.spec.keyRangeStart);
    const to = Math.max(from, this.#axis.endPosition(record.spec.keyRangeEnd));
    const { lastKey } = record.cursor;
    const cursor = lastKey === undefined ? undefined : Math.min(to, Math.max(from, this.#axis.position(lastKey)));
    tally.buckets.add(state, cursor === undefined ? { from, to } : { from, to, cursor });
    tally.width += to - from;
    tally.doneWidth += state === "done" ? to - from : (cursor ?? from) - from;
    this.#count(record, { state, from, cursor: state === "done" ? to : cursor, nowMs: Number(now) });
    if (state !== "leased") return;
    const { owner, deadline } = record.lease!;
    tally.holders.set(owner, (tally.holders.get(owner) ?? 0) + 1);
    tally.earliestDeadlineMs = Math.min(tally.earliestDeadlineMs ?? Infinity, Number(deadline));
  }

  /** End the look. */
  end(now: LogicalTime): RunSample {
    const tally = this.#tally;
    const { states, items, failed, newItems, newFailures, heat, holders, retrying, buckets, earliestDeadlineMs } =
      tally;
    const { width, doneWidth, retryingShard, initialShards } = tally;
    const atMs = Number(now);
    const sample = {
      atMs,
      sinceMs: this.#sinceMs,
      states,
      initialShards,
      items,
      failed,
      doneShare: width > 0 ? doneWidth / width : states.done / Math.max(1, countLeaves(states)),
      newItems,
      newFailures,
      heat,
      holders,
      earliestDeadlineMs,
      retrying,
      retryingShard,
      buckets,
      changes: this.#changes.take(atMs),
    };
    this.#before = tally.tracked;
    this.#sinceMs = atMs;
    this.#tally = new Tally();
    return sample;
  }

  #count(
    { shard, parent, attempts, status, lastTime, cursor: { token } }: ShardRecord,
    { state, from, cursor, nowMs }: Placed,
  ): void {
    const tally = this.#tally;
    if (status === "Active" && attempts >= RETRYING_FROM) {
      tally.retrying++;
      tally.retryingShard ??= shard;
    }
    const totals = decodeTotalsToken(token);
    if (totals !== undefined) tally.items = (tally.items ?? 0) + totals.items;
    const { items, failed: skipped, unreadable } = totals ?? NO_ITEMS;
    const failed = skipped + unreadable;
    tally.failed += failed;
    const isOver = state === "done";
    const isBegun = items > 0 || failed > 0 || cursor !== undefined;
    const isTracked = isOver ? Number(lastTime) >= nowMs - 2 * SLACK_MS : isBegun;
    if (isTracked && tally.tracked.size < MAX_TRACKED)
      tally.tracked.set(shard, { items, failed, position: cursor ?? from });
    if (this.#sinceMs === undefined) return;
    // A shard that ended well before the previous look has nothing new, and is no longer tracked.
    if (isOver && !this.#before.has(shard) && Number(lastTime) < this.#sinceMs - SLACK_MS) return;
    const before = this.#before.get(shard) ?? this.#inherited(parent, from, items);
    const newItems = Math.max(0, items - (before?.items ?? 0));
    tally.newFailures += Math.max(0, failed - (before?.failed ?? 0));
    if (newItems === 0) return;
    tally.newItems += newItems;
    spread(tally.heat, before?.position ?? from, cursor ?? from, newItems);
  }

  /** The first child of a split begins with the cursor and the counts of its parent. The others begin above the cursor. */
  #inherited(parent: ShardId | undefined, from: number, items: number): Tracked | undefined {
    const inherited = parent === undefined ? undefined : this.#before.get(parent);
    return inherited !== undefined && from <= inherited.position && inherited.items <= items ? inherited : undefined;
  }
}

/** What a shard that was not split is. */
export function leafStateOf(record: Pick<ShardRecord, "status" | "lease">, now: LogicalTime): LeafState {
  if (record.status === "Done") return "done";
  if (record.status === "Parked") return "parked";
  return isLeasedAt(record, now) ? "leased" : "waiting";
}

function countLeaves({ done, leased, waiting, parked }: SampledStates): number {
  return done + leased + waiting + parked;
}

/** Share items out evenly over the key buckets between two positions. */
function spread(heat: Map<number, number>, from: number, to: number, items: number): void {
  const bucketOf = (position: number): number => Math.min(HEAT_KEYS - 1, Math.max(0, Math.floor(position * HEAT_KEYS)));
  const [first, last] = [bucketOf(Math.min(from, to)), bucketOf(to)];
  const each = items / (last - first + 1);
  for (let bucket = first; bucket <= last; bucket++) heat.set(bucket, (heat.get(bucket) ?? 0) + each);
}
