import type { ShardStatus } from "@gossip/contracts";
import type { CommitAnswer, PutRunSet } from "@gossip/coordination";
import { encodeRunRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import { StatusCounts } from "@gossip/coordination-fsck";
import type { Compare, KeyValue, TxnOperation } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";
import { censusChange, NO_SHARDS, readCensus, type StoredCensus } from "./census.ts";
import type { Cluster } from "../cluster/cluster.ts";
import {
  countChange,
  countGets,
  refuseOverQuota,
  findTaken,
  MAX_COUNT_TRIES,
  readCounts,
  type ShardCounts,
} from "./counts.ts";
import { encodeNewShards, newShardOperations, type EncodedShard } from "../layout/encoded-shards.ts";
import { answerFrom, Outpaced } from "../cluster/etcd-failure.ts";
import { ShardKind, type KeyRange, type Space } from "../layout/layout.ts";
import { readRunVersion, runVersion } from "../layout/record-version.ts";
import { spaceIn } from "../read/run-heads.ts";
import { dropPage, isAbandoned, ownsPage, stagePage, takePage } from "./staged-page.ts";
import { isSmall, isStaged, isStillStaged, newSpace, stage } from "./staging.ts";
import { groupsFor, planTxn } from "../cluster/txn-budget.ts";
import { baseKey, baseValue, isCounted, readBase } from "../layout/tallies.ts";
import { CONFLICT } from "./update-shards.ts";

const writer = new RecordWriter();
const NO_CHANGE = { compare: [], operations: [] };

/** A run before the write. */
interface RunState {
  readonly revision: bigint;
  readonly space: Space | undefined;
  readonly counts: ShardCounts;
  readonly census: StoredCensus;
  /** What is counted beside the tallies; `undefined` if it has no key. */
  readonly base: KeyValue | undefined;
  /** The revision of the marker of a further page; 0 if there is none. */
  readonly page: bigint;
}

/** The encoded parts of a run's write. */
interface PreparedRun {
  readonly set: PutRunSet;
  readonly guard: bigint | undefined;
  readonly value: Uint8Array;
  readonly shards: readonly EncodedShard[];
}

/** The space of a run's shards, and whether they are staged there before the run is written. */
interface Home {
  readonly space: Space | undefined;
  readonly isStaged: boolean;
  /** The revision of this attempt's marker, if the shards are a further page that is staged. */
  readonly page: bigint | undefined;
}

/**
 * Writes a run, with its first shards if it has any.
 *
 * A few shards are written with the run. More are staged first, in a space of their own, and become visible with the
 * write of the head that names it; those of a further page are staged in the run's space. So their number does not depend on the server's transaction limit. Calls `giveUp`
 * with a staged space that ended up unused.
 */
export async function putRun(cluster: Cluster, set: PutRunSet, giveUp: (space: Space) => void): Promise<CommitAnswer> {
  writer.reset();
  encodeRunRecordInto(set.after, writer);
  const prepared = {
    set,
    guard: readRunVersion(set.guard),
    value: writer.toOwned(),
    shards: encodeNewShards(set.created),
  };
  if (set.guard !== undefined && prepared.guard === undefined) return CONFLICT;

  let home: Home | undefined;
  let isNamed = false;
  try {
    for (let tries = 0; tries < MAX_COUNT_TRIES; tries++) {
      const state = await readState(cluster, prepared);
      if (state === undefined) return CONFLICT;
      const isFirst = home === undefined;
      if (state.page !== (home?.page ?? 0n)) {
        // Another process stages a page of this run, or broke off.
        if (!isFirst || !(await clearPage(cluster, prepared, state))) return CONFLICT;
        continue;
      }
      const refusal = await refuse(cluster, prepared, { state, home });
      if (refusal !== undefined) return refusal;
      home ??= await homeFor(cluster, prepared, state);
      if (home === undefined || !(await areStaged(cluster, prepared, { home, isFirst }))) return CONFLICT;
      const made = await write(cluster, prepared, { state, home });
      isNamed = made.kind === "Committed" || made.kind === "Unknown";
      if (made.kind !== "Conflict") return made;
    }
    throw new Outpaced();
  } finally {
    if (home?.isStaged === true && home.page === undefined && !isNamed) giveUp(home.space!);
  }
}

/** Reads the run. Returns `undefined` if the guard does not match. */
async function readState(cluster: Cluster, { set, guard }: PreparedRun): Promise<RunState | undefined> {
  const { layout } = cluster;
  const { revision, found } = await cluster.look([
    { get: layout.head(set) },
    { get: layout.deleted(set), keysOnly: true },
    ...countGets(layout, set),
  ]);
  const [head, deleted, ...rest] = found;
  const present = head!.kvs[0];
  if (present?.modRevision !== guard || deleted!.kvs.length > 0) return undefined;
  const space = present && spaceIn(present);
  const state = {
    revision,
    space,
    counts: readCounts(layout, set, rest),
    census: NO_SHARDS,
    base: undefined,
    page: 0n,
  };
  if (space === undefined || set.created.length === 0) return state;
  const keys = [layout.census(space), layout.page(space), baseKey(layout, space)];
  const [census, page, base] = await cluster.readAt(revision, keys);
  return { ...state, census: readCensus(census), base, page: page?.modRevision ?? 0n };
}

/** Removes what an abandoned attempt to stage a further page left. Returns whether this process did. */
async function clearPage(cluster: Cluster, { guard }: PreparedRun, { space, page }: RunState): Promise<boolean> {
  if (!(await isAbandoned(cluster, space!, page))) return false;
  const taken = await takePage(cluster, space!, { seen: page, written: guard! });
  return taken !== undefined && (await dropPage(cluster, space!, taken));
}

async function refuse(
  cluster: Cluster,
  { set }: PreparedRun,
  { state: { revision, space, counts }, home }: { readonly state: RunState; readonly home: Home | undefined },
): Promise<CommitAnswer | undefined> {
  const { created, limits, noShardsIn } = set;
  if (space !== undefined && (await hasShardIn(cluster, { space, revision, statuses: noShardsIn }))) return CONFLICT;
  const overdrawn = refuseOverQuota(counts, created.length, limits);
  if (overdrawn !== undefined || space === undefined || home?.page !== undefined) return overdrawn;
  // The run already has shards: the new ones go into the same space, where their ids may be taken.
  const taken = await findTaken(
    cluster,
    created.map(({ shard }) => cluster.layout.record(space, shard)),
    revision,
  );
  return taken === -1 ? undefined : { kind: "Exists", shard: created[taken]!.shard };
}

/** Returns `undefined` if another process stages a page of the run. */
async function homeFor(
  cluster: Cluster,
  { guard, shards }: PreparedRun,
  { space }: RunState,
): Promise<Home | undefined> {
  const isStaged = !isSmall(cluster, shards);
  if (space === undefined && shards.length > 0) return { space: newSpace(), isStaged, page: undefined };
  if (space === undefined || !isStaged) return { space, isStaged: false, page: undefined };
  const page = await takePage(cluster, space, { seen: 0n, written: guard! });
  return page === undefined ? undefined : { space, isStaged, page };
}

/** Stages the shards at the first try. Returns whether all of them are staged. */
async function areStaged(
  cluster: Cluster,
  { set, shards }: PreparedRun,
  { home, isFirst }: { readonly home: Home; readonly isFirst: boolean },
): Promise<boolean> {
  if (!home.isStaged) return true;
  if (home.page !== undefined) return !isFirst || stagePage(cluster, home.page, { space: home.space!, shards });
  return isFirst ? stage(cluster, set, { space: home.space!, shards }) : isStillStaged(cluster, home.space!);
}

async function write(
  cluster: Cluster,
  { set, guard, value, shards }: PreparedRun,
  { state, home }: { readonly state: RunState; readonly home: Home },
): Promise<CommitAnswer> {
  const { layout, maxTxnOps } = cluster;
  const { space } = home;
  const change = countChange(state.counts, shards.length);
  const census = space === undefined ? NO_CHANGE : censusChange(layout.census(space), state.census, set.created);
  const counted = space === undefined ? NO_CHANGE : countCreated(cluster, space, { state, created: set.created });
  const compare: Compare[] = [
    { key: layout.head(set), target: "MOD", is: "EQUAL", revision: guard ?? 0n },
    { key: layout.deleted(set), target: "CREATE", is: "EQUAL", revision: 0n },
    ...change.compare,
    ...census.compare,
    ...counted.compare,
    ...(home.isStaged && home.page === undefined ? [isStaged(layout.staged(space!))] : []),
    ...(state.space === undefined || shards.length === 0 ? [] : [ownsPage(layout.page(space!), home.page ?? 0n)]),
    ...(state.space === undefined
      ? []
      : set.noShardsIn.map((status) => noneIn(cluster, state.space!, { status, revision: state.revision }))),
  ];
  const few: TxnOperation[] = [
    { put: layout.head(set), value: space ?? "" },
    { put: layout.run(set), value },
    ...change.operations,
    ...census.operations,
    ...counted.operations,
    ...(home.isStaged ? [{ delete: home.page === undefined ? layout.staged(space!) : layout.page(space!) }] : []),
  ];
  const many =
    home.isStaged || space === undefined ? [] : shards.flatMap((shard) => newShardOperations(layout, space, shard));
  const fits = groupsFor(maxTxnOps, { compares: compare.length, outer: few.length, inner: many.length }) !== undefined;
  assert(fits, "shards that are not staged must fit into one transaction");
  try {
    const done = await cluster.write(planTxn(maxTxnOps, { compare, few, many }));
    return done.succeeded ? { kind: "Committed", version: runVersion(done.revision) } : CONFLICT;
  } catch (thrown) {
    return answerFrom(thrown);
  }
}

/** Counts created shards that are not active. A registration has none. */
function countCreated(
  { layout }: Cluster,
  space: Space,
  { state: { base }, created }: { readonly state: RunState; readonly created: PutRunSet["created"] },
): { readonly compare: readonly Compare[]; readonly operations: readonly TxnOperation[] } {
  const added = StatusCounts.of(created);
  if (!isCounted(space) || StatusCounts.isEqual(added, StatusCounts.NONE)) return NO_CHANGE;
  const key = baseKey(layout, space);
  return {
    compare: [{ key, target: "MOD", is: "EQUAL", revision: base?.modRevision ?? 0n }],
    operations: [{ put: key, value: baseValue(StatusCounts.plus(readBase(base), added)) }],
  };
}

/** Whether a run had a shard in one of these states at a revision. */
async function hasShardIn(
  cluster: Cluster,
  {
    space,
    revision,
    statuses,
  }: { readonly space: Space; readonly revision: bigint; readonly statuses: readonly ShardStatus[] },
): Promise<boolean> {
  if (statuses.length === 0) return false;
  const { found } = await cluster.look(
    KINDS_TO_COUNT.map((kind) => ({ ...cluster.layout.kind(space, kind), countOnly: true, revision })),
  );
  const [all, begun, fresh, held, parked, split] = found.map(({ count }) => count) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const Active = begun + fresh + held;
  const counts: Record<ShardStatus, number> = {
    Active,
    Parked: parked,
    Split: split,
    Done: all - Active - parked - split,
  };
  return statuses.some((status) => counts[status] > 0);
}

/** The condition that a run has no shard in a state. For Done, that no record was written since there was none. */
function noneIn(
  { layout }: Cluster,
  space: Space,
  { status, revision }: { readonly status: ShardStatus; readonly revision: bigint },
): Compare {
  const isEmpty = { target: "CREATE", is: "EQUAL", revision: 0n } as const;
  const of = ({ get: key, end }: KeyRange) => ({ key, end });
  switch (status) {
    case "Active":
      // The letters of the three kinds of active shards are adjacent.
      return { ...of(layout.kinds(space, ShardKind.Begun, ShardKind.Held)), ...isEmpty };
    case "Parked":
      return { ...of(layout.kind(space, ShardKind.Parked)), ...isEmpty };
    case "Split":
      return { ...of(layout.kind(space, ShardKind.Split)), ...isEmpty };
    case "Done":
      return { ...of(layout.kind(space, ShardKind.Record)), target: "MOD", is: "LESS", revision: revision + 1n };
  }
}

const KINDS_TO_COUNT = [
  ShardKind.Record,
  ShardKind.Begun,
  ShardKind.Fresh,
  ShardKind.Held,
  ShardKind.Parked,
  ShardKind.Split,
] as const;
