import type { CommitAnswer, PutRunSet, RemoveRunSet, SplitShardSet } from "@gossip/coordination";
import { encodeDeletedRun } from "@gossip/coordination-codec";
import { encodeRunRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import { RunCensus, StatusCounts } from "@gossip/coordination-fsck";
import { checkQuota, CONFLICT, hasEntryMoved } from "@gossip/store-kit";
import { countIn } from "./census.ts";
import { plus, readCounts, writeCounts, type ShardCounts } from "./counts.ts";
import { RowKind, runKey, shardRecordKey } from "../layout/keyspace.ts";
import { entryKey } from "../layout/entry-key.ts";
import { hasShardIn } from "../read/progress.ts";
import type { RecordRows } from "../read/record-rows.ts";
import { FIRST_RUN_VERSION, nextVersion } from "../layout/row-version.ts";
import type { Rows } from "../engine/rows.ts";
import { encodeShards, prepareNewShards, putNewShards, type NewShardRows } from "../layout/shard-rows.ts";
import { addToStatusCounts, beginStatusCounts } from "./status-counts.ts";
import { sweepRows, SWEEP_SIZE } from "./sweep.ts";

const writer = new RecordWriter();

/** The transaction of a write set. Everything that it writes is prepared; what it reads only decides whether. */
export type RunWrite = (rows: Rows, records: RecordRows) => CommitAnswer;

// Each of these encodes first, outside the transaction. Within it, all checks come before the first write: the driver
// commits what was written even if something throws later.

export function splitShard(set: SplitShardSet): RunWrite {
  const { shard, runGuard, created, limits } = set;
  const { before, after, guard } = shard;
  const [value] = encodeShards([after]);
  const shards = prepareNewShards(set, created);
  const census = RunCensus.of(created.map(({ shard: id }) => id));
  const change = StatusCounts.change(before, after);
  const key = shardRecordKey(set, after.shard);
  const isMoved = hasEntryMoved(before, after);
  const oldEntry = isMoved ? entryKey(set, before) : undefined;
  const newEntry = isMoved ? entryKey(set, after) : undefined;

  return (rows, records) => {
    if (records.shardVersion(set, after.shard) !== guard || records.runVersion(set) !== runGuard) return CONFLICT;
    const counts = readCounts(rows, set);
    const refusal = refuseNew(rows, { counts, created, limits, shards });
    if (refusal !== undefined) return refusal;

    const version = nextVersion(guard as number);
    rows.put(key, value!, version);
    if (oldEntry !== undefined) rows.remove(oldEntry);
    if (newEntry !== undefined) rows.put(newEntry);
    putNewShards(rows, shards);
    addToStatusCounts(rows, set, change);
    countIn(rows, set, { added: census, hasShards: true });
    writeCounts(rows, set, plus(counts, shards.length));
    return { kind: "Committed", version };
  };
}

export function putRun(set: PutRunSet): RunWrite {
  const { guard, after, created, limits, noShardsIn } = set;
  writer.reset();
  encodeRunRecordInto(after, writer);
  const value = writer.toOwned();
  const shards = prepareNewShards(set, created);
  const census = RunCensus.of(created.map(({ shard: id }) => id));
  const change = StatusCounts.of(created);

  return (rows, records) => {
    const found = records.runVersion(set);
    if (found !== guard || (found === undefined && records.isDeleted(set))) return CONFLICT;
    if (noShardsIn.some((status) => hasShardIn(rows, set, status))) return CONFLICT;
    const counts = readCounts(rows, set);
    const refusal = refuseNew(rows, { counts, created, limits, shards });
    if (refusal !== undefined) return refusal;

    const version = found === undefined ? FIRST_RUN_VERSION : nextVersion(found);
    rows.put(runKey(RowKind.RunHead, set), undefined, version);
    rows.put(runKey(RowKind.RunRecord, set), value, version);
    if (found === undefined) beginStatusCounts(rows, set);
    if (shards.length > 0) {
      putNewShards(rows, shards);
      addToStatusCounts(rows, set, change);
      countIn(rows, set, { added: census, hasShards: counts.run > 0 });
      writeCounts(rows, set, plus(counts, shards.length));
    }
    return { kind: "Committed", version };
  };
}

/**
 * Remove a run: its rows, its counts, and the first few thousand rows of its shards.
 *
 * If there are more, a row records that they are still to be swept. They cannot be found meanwhile: every read of a shard
 * reads its run first.
 */
export function removeRun(set: RemoveRunSet): RunWrite {
  const mark = encodeDeletedRun({ tenant: set.tenant, run: set.run });

  return (rows, records) => {
    const found = records.runVersion(set);
    if (found === undefined || found !== set.guard) return CONFLICT;
    const counts = readCounts(rows, set);

    for (const kind of [RowKind.RunHead, RowKind.RunRecord, RowKind.Starved, RowKind.Census])
      rows.remove(runKey(kind, set));
    rows.put(runKey(RowKind.DeletedRun, set), mark);
    writeCounts(rows, set, plus(counts, -counts.run));
    if (!sweepRows(rows, set, SWEEP_SIZE)) rows.put(runKey(RowKind.Unswept, set));
    return { kind: "Committed", version: nextVersion(found) };
  };
}

interface NewShards {
  readonly counts: ShardCounts;
  readonly created: SplitShardSet["created"];
  readonly limits: SplitShardSet["limits"];
  readonly shards: readonly NewShardRows[];
}

function refuseNew(rows: Rows, { counts, created, limits, shards }: NewShards): CommitAnswer | undefined {
  const refusal = checkQuota(counts, created.length, limits);
  if (refusal !== undefined) return refusal;
  // A run without shards has no taken ids. That is also where ten thousand shards are registered at once.
  const taken = counts.run === 0 ? -1 : shards.findIndex(({ key }) => rows.has(key));
  return taken === -1 ? undefined : { kind: "Exists", shard: created[taken]!.shard };
}
