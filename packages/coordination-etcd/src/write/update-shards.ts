import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import type { Compare, InnerTxnResult, TxnOperation, RangeResult } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";
import { MAX_CAPACITY_LOOKS } from "../capacity/capacity.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { encodeShard } from "../layout/encoded-shards.ts";
import { answerFrom, EtcdFailure } from "../cluster/etcd-failure.ts";
import { HintsOfRun, type AskedRun } from "../capacity/hints-of-run.ts";
import { pathOf, type Space } from "../layout/layout.ts";
import { planTxn } from "../cluster/txn-budget.ts";
import { tallyOperations } from "../layout/tallies.ts";
import { moveOperations } from "../layout/shard-indexes.ts";
import { readRunVersion, readShardVersion, shardVersion } from "../layout/record-version.ts";
import type { StoreParts } from "../store-parts.ts";
import { assertNotesFit, noteOperations } from "./write-notes.ts";

export const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** Maximum number of operations of one update: the record, the old index entry, the new one, the tally. */
const OPS_PER_UPDATE = 4;
/** Bytes of records in one transaction. The default request limit of etcd is 1.5 MB. */
const MAX_TXN_SIZE = 1 << 20;

/** An update, encoded. */
interface PreparedUpdate {
  readonly index: number;
  readonly set: UpdateShardSet;
  /** Of the run. */
  readonly path: string;
  readonly space: Space;
  /** The condition that the shard is unchanged. */
  readonly ofShard: Compare;
  /** The condition that the run is unchanged, or exists. */
  readonly ofRun: Compare;
  readonly success: readonly TxnOperation[];
  readonly size: number;
}

/** Updates sent in one transaction. */
interface Batch {
  readonly updates: PreparedUpdate[];
  /** The runs whose capacity is read after the updates, by path. */
  readonly asked: Map<string, AskedRun>;
  /** The paths of runs whose capacity the updates may change. */
  readonly changed: Set<string>;
  size: number;
}

/** The number of updates that fit into one transaction if all belong to one run. */
export function maxUpdatesPerTxn(maxTxnOps: number): number {
  return maxTxnOps - OPS_PER_UPDATE - MAX_CAPACITY_LOOKS;
}

/**
 * Updates shards. This is the hot path.
 *
 * All updates go into one transaction, each as a nested transaction with its own conditions. So they share a round trip
 * and a flush, and a refused one does not affect the others. Nothing is read first: the index changes follow from the
 * record that the guard vouches for. The same transaction reads the runs' capacities after the updates, unless a run
 * gets only plain checkpoints and its capacity is cached.
 */
export async function updateShards(parts: StoreParts, sets: readonly UpdateShardSet[]): Promise<CommitAnswer[]> {
  const answers = Array.from<CommitAnswer>({ length: sets.length }).fill(CONFLICT);
  const batches = intoBatches(prepare(parts.cluster, sets), parts.cluster.maxTxnOps);
  await Promise.all(batches.map((batch) => send(parts, batch, answers)));
  return answers;
}

/** Encodes the updates. Throws on malformed ones, before anything is sent. */
function prepare(cluster: Cluster, sets: readonly UpdateShardSet[]): PreparedUpdate[] {
  const { layout } = cluster;
  return sets.flatMap((set, index) => {
    const { shard, runGuard, notes } = set;
    if (notes !== undefined) assertNotesFit(cluster, notes);
    const value = encodeShard(shard.after);
    const guard = readShardVersion(shard.guard);
    const run = readRunVersion(runGuard);
    // A version that this store never issued cannot be the current one.
    if (guard === undefined || (runGuard !== undefined && run === undefined)) return [];
    const { space, revision } = guard;
    const key = layout.record(space, shard.after.shard);
    const head = layout.head(set);
    const ofShard: Compare = { key, target: "MOD", is: "EQUAL", revision };
    // This also prevents writes to a shard whose run was removed but not swept yet.
    const ofRun: Compare =
      run === undefined
        ? { key: head, target: "CREATE", is: "GREATER", revision: 0n }
        : { key: head, target: "MOD", is: "EQUAL", revision: run };
    return [
      {
        index,
        set,
        path: pathOf(set),
        space,
        ofShard,
        ofRun,
        success: [
          { put: key, value },
          ...moveOperations(layout, space, shard),
          ...(notes === undefined ? [] : noteOperations(layout, set, notes)),
        ],
        size: value.length,
      },
    ];
  });
}

/** Fills each batch up to the server's limit. */
function intoBatches(updates: readonly PreparedUpdate[], maxTxnOps: number): Batch[] {
  const batches: Batch[] = [];
  for (const update of updates) {
    let batch = batches.at(-1);
    if (batch === undefined || !add(batch, update, maxTxnOps)) {
      batch = { updates: [], asked: new Map(), changed: new Set(), size: 0 };
      batches.push(batch);
      assert(add(batch, update, maxTxnOps), "one update must fit into a transaction");
    }
  }
  return batches;
}

function add(batch: Batch, update: PreparedUpdate, maxTxnOps: number): boolean {
  const { set, path, space, size } = update;
  const { hintAt } = set;
  // Updates of several shards may write the same note, which etcd refuses in one transaction.
  if (batch.updates.length > 0 && (set.notes !== undefined || batch.updates[0]!.set.notes !== undefined)) return false;
  const asked = batch.asked.get(path);
  const runs = batch.asked.size + (hintAt !== undefined && asked === undefined ? 1 : 0);
  const ops = batch.updates.length + 1 + runs * MAX_CAPACITY_LOOKS;
  if (batch.updates.length > 0 && (ops + OPS_PER_UPDATE > maxTxnOps || batch.size + size > MAX_TXN_SIZE)) return false;
  batch.updates.push(update);
  batch.size += size;
  if (!isPlainCheckpoint(set)) batch.changed.add(path);
  if (hintAt === undefined) return true;
  if (asked === undefined)
    batch.asked.set(path, { address: { tenant: set.tenant, run: set.run }, path, space, from: hintAt, to: hintAt });
  else if (hintAt < asked.from) batch.asked.set(path, { ...asked, from: hintAt });
  else if (hintAt > asked.to) batch.asked.set(path, { ...asked, to: hintAt });
  return true;
}

/** Whether an update only advances the cursor, so that the run's capacity stays the same. */
function isPlainCheckpoint({ shard: { before, after } }: UpdateShardSet): boolean {
  // Unchanged parts are the same object in both. If they are not, the update counts as a change and costs a read.
  return (
    after.status === "Active" &&
    before.status === "Active" &&
    after.lease !== undefined &&
    after.lease === before.lease &&
    after.cursor !== before.cursor
  );
}

function send(parts: StoreParts, batch: Batch, answers: CommitAnswer[]): Promise<void> {
  if (batch.changed.size === 0) return exchange(parts, batch, answers);
  return parts.capacities.changing(batch.changed, () => exchange(parts, batch, answers));
}

async function exchange(parts: StoreParts, batch: Batch, answers: CommitAnswer[]): Promise<void> {
  const hints = new Map([...batch.asked.values()].map((asked) => [asked.path, new HintsOfRun(parts, asked)]));
  const gets = [...hints.values()].reduce((sum, ofRun) => sum + ofRun.gets.length, 0);
  const writes = writesOf(parts.cluster, batch.updates, parts.cluster.maxTxnOps - gets);
  try {
    const done = await parts.cluster.write({
      compare: writes.compare,
      success: [...writes.operations, ...[...hints.values()].flatMap(({ gets }) => gets)],
    });
    if (!done.succeeded) return;
    let from = writes.operations.length;
    for (const ofRun of hints.values()) {
      if (ofRun.gets.length > 0) ofRun.take(looksIn(done.results, { from, count: ofRun.gets.length }));
      from += ofRun.gets.length;
    }
    for (const [at, { index, set, path, space }] of batch.updates.entries()) {
      if (!writes.isMade(done, at)) continue;
      const hint = set.hintAt === undefined ? undefined : hints.get(path)!.of(set.hintAt);
      // Rarely a promise, and then one shared by all updates of the run.
      answers[index] = {
        kind: "Committed",
        version: shardVersion({ space, revision: done.revision }),
        hint: hint instanceof Promise ? await hint : hint,
      };
    }
  } catch (thrown) {
    if (thrown instanceof EtcdFailure && thrown.isTooLarge && batch.updates.length > 1)
      return sendInHalves(parts, batch, answers);
    const answer = answerFrom(thrown);
    for (const { index } of batch.updates) answers[index] = answer;
  }
}

/** The operations of some updates, and how to tell which were applied. */
interface Writes {
  readonly compare: readonly Compare[];
  readonly operations: readonly TxnOperation[];
  readonly isMade: (done: InnerTxnResult, at: number) => boolean;
}

/** `room`: how many operations the transaction can have. */
function writesOf({ layout }: Cluster, updates: readonly PreparedUpdate[], room: number): Writes {
  const operationsOf = ({ space, set, success }: PreparedUpdate, position: number): readonly TxnOperation[] => [
    ...success,
    ...tallyOperations(layout, { space, position }, set.shard),
  ];
  const [first, ...others] = updates;
  // A single update is not nested: nesting costs etcd a quarter more.
  if (others.length === 0)
    return {
      compare: [first!.ofShard, first!.ofRun],
      operations: first!.set.notes === undefined ? operationsOf(first!, 0) : inGroups(operationsOf(first!, 0), room),
      isMade: ({ succeeded }) => succeeded,
    };
  return {
    compare: [],
    operations: updates.map((update, position) => ({
      txn: { compare: [update.ofShard, update.ofRun], success: operationsOf(update, position) },
    })),
    isMade: ({ results }, at) => {
      const result = results[at];
      return result?.kind === "Txn" && result.succeeded;
    },
  };
}

/** The operations of an update with notes. If there are too many, they go into nested transactions. */
function inGroups(operations: readonly TxnOperation[], room: number): readonly TxnOperation[] {
  return planTxn(room, { compare: [], few: [], many: operations }).success;
}

/** The server accepts less than probed. The rejected transaction was not carried out. */
async function sendInHalves(parts: StoreParts, { updates }: Batch, answers: CommitAnswer[]): Promise<void> {
  const { maxTxnOps } = parts.cluster;
  const middle = Math.ceil(updates.length / 2);
  const halves = [updates.slice(0, middle), updates.slice(middle)].flatMap((half) => intoBatches(half, maxTxnOps));
  await Promise.all(halves.map((half) => send(parts, half, answers)));
}

function looksIn(
  results: InnerTxnResult["results"],
  { from, count }: { readonly from: number; readonly count: number },
): RangeResult[] {
  return results.slice(from, from + count).map((result) => {
    assert(result.kind === "Get", "etcd must return a range for every get after the updates");
    return result;
  });
}
