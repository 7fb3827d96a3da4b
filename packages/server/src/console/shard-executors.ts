import { ShardId } from "@gossip/contracts";
import { ShardFilter, type ShardPosition, type ShardRecord } from "@gossip/coordination";
import { coordError, InfraError } from "@gossip/coordination-errors";
import type { LeafState } from "@gossip/insight";
import { readPosition, writeId, writePosition, type ShardRowWire } from "@gossip/protocol";
import { compareBytes } from "@gossip/stdx";
import { idOf, type Execute } from "../execute/call.ts";
import { isFailure, type ElementContext, type Failure } from "../execute/element-context.ts";
import { readPage } from "./list-leaves.ts";
import type { RunView } from "./run-view.ts";
import { shardRowOf, type RowContext } from "./shard-row.ts";
import { nowOf, numberIn, readShards, shownRunOf, type ShownRun } from "./shown-run.ts";

type ShardName = "showShards" | "showTree" | "showShard";

const FILTERS: Readonly<Record<string, ShardFilter>> = {
  done: { status: "Done" },
  leased: { status: "Active", isLeased: true },
  waiting: { status: "Active", isLeased: false },
  parked: { status: "Parked" },
  split: { status: "Split" },
  root: { rootOnly: true },
};
/** Pages of the store that one page of a list may take, however few shards match. */
const MAX_PAGES = 4;
const MAX_ANCESTORS = 64;
const MAX_CHILDREN = 100;
const MAX_EVENTS = 50;

export const SHARD_EXECUTORS: { readonly [Name in ShardName]: Execute<Name> } = {
  async showShards(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { state } = query;
    // Without a shard in this state, a list need not look for one.
    const states = shown.view.counted?.sample.states;
    if (states !== undefined && state !== undefined && state !== "root" && states[state] === 0)
      return { ok: { shards: [] } };
    const limit = numberIn(query.limit, { standard: 100, max: 500 });
    const filter = query.state === undefined ? ShardFilter.ALL : FILTERS[query.state]!;
    const listed = await listRows(context, shown, { filter, limit, after: query.after, leafState: leafStateOf(state) });
    if (isFailure(listed)) return listed;
    const { rows, next } = listed;
    const shards = state === "parked" ? await withErrors(context, shown, rows) : rows;
    return { ok: { shards, ...(next === undefined ? {} : { next }) } };
  },

  async showTree(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const limit = numberIn(query.limit, { standard: 50, max: 200 });
    if (query.parent === undefined) {
      const listed = await listRows(context, shown, { filter: FILTERS["root"]!, limit, after: query.after });
      if (isFailure(listed)) return listed;
      return { ok: { nodes: listed.rows, ...(listed.next === undefined ? {} : { next: listed.next }) } };
    }
    const { tenant, run } = shown.request;
    const parent = idOf<ShardId>(context, { parent: query.parent }, "parent");
    if (isFailure(parent)) return parent;
    const found = await context.coordinator.getShard({ tenant, key: { run, shard: parent } });
    if (!found.ok) return context.fail(found.error);
    if (found.value === undefined) return context.fail(coordError("ShardNotFound", { shard: { run, shard: parent } }));
    const from = Math.max(0, Number(query.after ?? "0") || 0);
    const ids = found.value.spawned.slice(from, from + limit);
    const rows = await rowContext(context, shown);
    const nodes = (await readShards(context, shown.request, ids)).map((record) => shardRowOf(record, rows));
    const next = from + limit < found.value.spawned.length ? String(from + limit) : undefined;
    return { ok: { nodes, ...(next === undefined ? {} : { next }) } };
  },

  async showShard(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const shard = idOf<ShardId>(context, params, "shard");
    if (isFailure(shard)) return shard;
    const { tenant, run } = shown.request;
    const key = { tenant, key: { run, shard } };
    const found = await context.coordinator.getShard(key);
    if (!found.ok) return context.fail(found.error);
    const record = found.value;
    if (record === undefined) return context.fail(coordError("ShardNotFound", { shard: key.key }));
    const rows = await rowContext(context, shown);
    const [parked, marker, children] = await Promise.all([
      context.coordinator.getParkedDetail(key),
      context.coordinator.getMarker(key),
      readShards(context, shown.request, record.spawned.slice(0, MAX_CHILDREN)),
    ]);
    const ancestors = await ancestorsOf(context, shown, record);
    const { spec, cursor, fenceEpoch, attempts, lastTime, opLog } = record;
    return {
      ok: {
        shard: {
          ...shardRowOf(record, rows),
          fence: fenceEpoch.toString(),
          retries: attempts,
          tokenSize: cursor.token?.length ?? 0,
          metadataSize: spec.metadata.length,
          lastAtMs: Number(lastTime),
          ...(parked.ok && parked.value !== undefined ? { parked: parkedOf(parked.value, rows) } : {}),
          ...(marker.ok && marker.value !== undefined
            ? {
                marker: {
                  item: rows.keys.key(marker.value.item),
                  worker: writeId(marker.value.worker),
                  atMs: Number(marker.value.at),
                },
              }
            : {}),
          log: opLog
            .map(({ opId, kind, executedAt }) => ({ opId: writeId(opId), kind, atMs: Number(executedAt) }))
            .toReversed(),
          ancestors: ancestors.map((each) => shardRowOf(each, rows)),
          childShards: children.map((each) => shardRowOf(each, rows)),
        },
        events: shown.console.events.ofShard(shown.request, writeId(shard), MAX_EVENTS),
      },
    };
  },
};

/** Parked shards with the error that parked them, where it is known. */
async function withErrors(
  context: ElementContext,
  { request: { tenant, run }, view: { keys } }: ShownRun,
  rows: readonly ShardRowWire[],
): Promise<ShardRowWire[]> {
  return Promise.all(
    rows.map(async (row) => {
      const shard = idOf<ShardId>(context, { shard: row.shard }, "shard");
      if (isFailure(shard)) return row;
      const found = await context.coordinator.getParkedDetail({ tenant, key: { run, shard } });
      return found.ok && found.value !== undefined ? { ...row, parkError: keys.error(found.value.error) } : row;
    }),
  );
}

interface ParkedInput {
  readonly item: Uint8Array | undefined;
  readonly attempts: number;
  readonly error: string;
  readonly at: bigint;
  readonly worker: bigint;
  readonly workerName: string | undefined;
}

function parkedOf({ item, attempts, error, at, worker, workerName }: ParkedInput, { keys }: RowContext) {
  return {
    ...(item === undefined ? {} : { item: keys.key(item) }),
    attempts,
    error: keys.error(error),
    atMs: Number(at),
    worker: writeId(worker),
    ...(workerName === undefined ? {} : { workerName }),
  };
}

/** The shards that a shard descends from, the initial one first. */
async function ancestorsOf(
  context: ElementContext,
  { request }: ShownRun,
  record: ShardRecord,
): Promise<ShardRecord[]> {
  const ancestors: ShardRecord[] = [];
  let { parent } = record;
  while (parent !== undefined && ancestors.length < MAX_ANCESTORS) {
    const [found] = await readShards(context, request, [parent]);
    if (found === undefined) break;
    ancestors.unshift(found);
    ({ parent } = found);
  }
  return ancestors;
}

async function rowContext(context: ElementContext, { view, console: service, request }: ShownRun): Promise<RowContext> {
  return { keys: view.keys, now: await nowOf(context), workers: await service.workersOf(request) };
}

async function listRows(
  context: ElementContext,
  shown: ShownRun,
  query: {
    readonly filter: ShardFilter;
    readonly limit: number;
    readonly after: string | undefined;
    /** What the filter asks for, if the looks count it by position. */
    readonly leafState?: LeafState | undefined;
  },
) {
  const { filter, limit, after, leafState } = query;
  let position = after === undefined ? undefined : readPosition(after);
  if (after !== undefined && position === undefined)
    return context.badField({ field: "after", expected: "`next` of the page before" });
  const rows = await rowContext(context, shown);
  const found: ShardRecord[] = [];
  for (let pages = 0; pages < MAX_PAGES && found.length < limit; pages++) {
    const page = await readPage(context, shown.view, { after: position, limit: limit - found.length, filter });
    if (page === undefined) return failed(context);
    const matching = page.items.filter((record) => ShardFilter.matches(filter, record, rows.now));
    found.push(...matching);
    position = page.next;
    if (matching.length === 0 && leafState !== undefined) position = skipTo(shown.view, leafState, position);
    if (position === undefined) break;
  }
  return {
    rows: found.map((record) => shardRowOf(record, rows)),
    next: position === undefined ? undefined : writePosition(position),
  };
}

function leafStateOf(state: string | undefined): LeafState | undefined {
  return state === "done" || state === "leased" || state === "waiting" || state === "parked" ? state : undefined;
}

/** Where to read on for shards in a state: above the keys that had none at the last look. */
function skipTo(
  { axis, counted }: RunView,
  state: LeafState,
  position: ShardPosition | undefined,
): ShardPosition | undefined {
  if (axis === undefined || counted === undefined || position === undefined) return position;
  const next = counted.sample.buckets.nextOf(state, axis.position(position.keyRangeStart));
  if (next === undefined) return undefined;
  const keyRangeStart = axis.keyAt(next);
  return compareBytes(keyRangeStart, position.keyRangeStart) <= 0
    ? position
    : { keyRangeStart, shard: ShardId.fromRaw(0n) };
}

function failed(context: ElementContext): Promise<Failure> {
  const reason = InfraError.transient({ operation: "list.read", message: "the store does not answer" });
  return context.fail(coordError("BackendError", { reason }));
}
