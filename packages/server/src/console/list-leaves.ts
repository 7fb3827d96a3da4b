import type { ShardFilter, ShardPosition, ShardRecord } from "@gossip/coordination";
import { ShardId } from "@gossip/contracts";
import type { KeyAxis } from "@gossip/insight";
import type { ElementContext } from "../execute/element-context.ts";
import type { RunView } from "./run-view.ts";
import { nowOf } from "./shown-run.ts";

const PAGE_SIZE = 500;
/** Pages that one request reads at most. */
const MAX_PAGES = 8;
/** How much further back to look for the begin of a shard each time. */
const STEP_BACK = 32;

/**
 * The shards without children between two positions, in key order. `undefined` if there are more than `max`, or too many
 * others between them.
 */
export async function listLeaves(
  context: ElementContext,
  view: RunView,
  { from, to, max }: { readonly from: number; readonly to: number; readonly max: number },
): Promise<ShardRecord[] | undefined> {
  const { axis, buckets } = view;
  if (axis === undefined || buckets === undefined) return undefined;
  let after = await positionBefore(context, view, { axis, start: buckets.startBefore(from), from, width: to - from });
  const leaves: ShardRecord[] = [];
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await readPage(context, view, { after, limit: PAGE_SIZE, filter: {} });
    if (page === undefined) return undefined;
    for (const record of page.items) {
      if (axis.position(record.spec.keyRangeStart) >= to) return leaves;
      const isAbove = axis.endPosition(record.spec.keyRangeEnd) > from;
      if (record.status !== "Split" && isAbove) leaves.push(record);
    }
    if (leaves.length > max) return undefined;
    after = page.next;
    if (after === undefined) return leaves;
  }
  return undefined;
}

/**
 * A position at or below the shard that covers `from`, as near to it as a few reads find one: a bucket may have more
 * shards than can be read. `start` is known to be at or below that shard.
 */
async function positionBefore(
  context: ElementContext,
  view: RunView,
  {
    axis,
    start,
    from,
    width,
  }: { readonly axis: KeyAxis; readonly start: number; readonly from: number; readonly width: number },
): Promise<ShardPosition | undefined> {
  for (let back = width; from - back > start; back *= STEP_BACK) {
    const after = { keyRangeStart: axis.keyAt(from - back), shard: ShardId.fromRaw(0n) };
    const page = await readPage(context, view, { after, limit: 1, filter: {} });
    const first = page?.items[0];
    // Shards tile the keys: the one that covers `from` begins here or above.
    if (first !== undefined && axis.position(first.spec.keyRangeStart) <= from) return after;
  }
  return start === 0 ? undefined : { keyRangeStart: axis.keyAt(start), shard: ShardId.fromRaw(0n) };
}

/** A page of a run's shards. `undefined` if the store fails. */
export async function readPage(
  context: ElementContext,
  { request }: RunView,
  query: { readonly after: ShardPosition | undefined; readonly limit: number; readonly filter: ShardFilter },
) {
  const { store } = context.service.console!.options;
  const page = await store.listShards({ ...request, ...query, now: await nowOf(context) });
  return page.ok ? page.value : undefined;
}
