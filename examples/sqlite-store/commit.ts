import { ShardId } from "@gossip/contracts";
import {
  type CommitAnswer,
  type PutRunSet,
  type RemoveRunSet,
  type ShardLimits,
  type ShardRecord,
  type ShardWrite,
  type SplitShardSet,
  type StoreVersion,
  type UpdateShardSet,
  type WriteSet,
} from "@gossip/coordination";
import { encodeRunRecord } from "@gossip/coordination-codec";
import { InvariantViolation } from "@gossip/stdx";
import { checkQuota, CONFLICT, dispatchCommit, type RunAddress } from "@gossip/store-kit";
import { readHint } from "./claims.ts";
import { putNotes, removeNotes, writeNotes } from "./notes.ts";
import { keyOf, putShard, runRow } from "./records.ts";
import { FIRST_RUN_VERSION, FIRST_SHARD_VERSION, VERSION_STEP } from "./schema.ts";
import { failureFrom } from "./sqlite-failure.ts";
import { UnknownOutcome, type SqliteFile } from "./sqlite-file.ts";

const SHARD_VERSION = "SELECT version FROM shards WHERE tenant = ? AND run = ? AND shard = ?";
const HAS_SHARD_IN = "SELECT 1 FROM shards WHERE tenant = ? AND run = ? AND status = ? LIMIT 1";
const COUNTS = `
  SELECT coalesce(sum(shard_count), 0) AS total, coalesce(sum(shard_count) FILTER (WHERE tenant = ?), 0) AS tenant
  FROM tenants`;
const ADD_TO_COUNT = `
  INSERT INTO tenants (tenant, shard_count) VALUES (?1, ?2)
  ON CONFLICT (tenant) DO UPDATE SET shard_count = shard_count + ?2`;
const COUNT_OF_RUN = "SELECT count(*) AS count FROM shards WHERE tenant = ? AND run = ?";
const DELETE_SHARDS = "DELETE FROM shards WHERE tenant = ? AND run = ?";
const INSERT_RUN = `INSERT INTO runs (tenant, run, version, record) VALUES (?, ?, ${FIRST_RUN_VERSION}, ?)`;
const UPDATE_RUN = `
  UPDATE runs SET version = version + ${VERSION_STEP}, record = ?3 WHERE tenant = ?1 AND run = ?2`;

/** Commits write sets in one transaction and answers each of them. */
export function commit(file: SqliteFile, sets: readonly WriteSet[]): readonly CommitAnswer[] {
  try {
    return file.transact(() =>
      dispatchCommit(sets, {
        updateShards: (updates) => updates.map((set) => updateShard(file, set)),
        splitShard: (set) => splitShard(file, set),
        putRun: (set) => putRun(file, set),
        removeRun: (set) => removeRun(file, set),
        writeNotes: (set) => writeNotes(file, set),
      }),
    );
  } catch (thrown) {
    if (thrown instanceof InvariantViolation) throw thrown;
    // Before COMMIT nothing counts. Once COMMIT was attempted, the write may be in the file.
    const isUnknown = thrown instanceof UnknownOutcome;
    const error = failureFrom("sqlite.commit", isUnknown ? thrown.cause : thrown);
    return sets.map(() => ({ kind: isUnknown ? "Unknown" : "Failed", error }));
  }
}

function updateShard(file: SqliteFile, set: UpdateShardSet): CommitAnswer {
  const { shard, runGuard, hintAt, notes = [] } = set;
  const run = runRow(file, set);
  if (run === undefined || run["record"] === null) return CONFLICT;
  if (runGuard !== undefined && run["version"] !== runGuard) return CONFLICT;
  if (!isShardAt(file, set, shard)) return CONFLICT;

  const version = writeShard(file, shard);
  putNotes(file, set, notes);
  const hint = hintAt === undefined ? undefined : readHint(file, { tenant: set.tenant, run: set.run, now: hintAt });
  return { kind: "Committed", version, hint };
}

function splitShard(file: SqliteFile, set: SplitShardSet): CommitAnswer {
  if (!isRunAt(file, set, set.runGuard) || !isShardAt(file, set, set.shard)) return CONFLICT;
  const refusal = refuseNewShards(file, set);
  if (refusal !== undefined) return refusal;

  addShards(file, set);
  return { kind: "Committed", version: writeShard(file, set.shard) };
}

function putRun(file: SqliteFile, set: PutRunSet): CommitAnswer {
  const { guard, after, noShardsIn } = set;
  // The mark of a removed run counts as used.
  if (guard === undefined ? runRow(file, set) !== undefined : !isRunAt(file, set, guard)) return CONFLICT;
  if (noShardsIn.some((status) => file.first(HAS_SHARD_IN, ...keyOf(set), status) !== undefined)) return CONFLICT;
  const refusal = refuseNewShards(file, set);
  if (refusal !== undefined) return refusal;

  file.run(guard === undefined ? INSERT_RUN : UPDATE_RUN, ...keyOf(set), encodeRunRecord(after));
  addShards(file, set);
  return { kind: "Committed", version: guard === undefined ? FIRST_RUN_VERSION : next(guard) };
}

function removeRun(file: SqliteFile, set: RemoveRunSet): CommitAnswer {
  if (!isRunAt(file, set, set.guard)) return CONFLICT;
  const count = Number(file.first(COUNT_OF_RUN, ...keyOf(set))!["count"]);
  file.run(DELETE_SHARDS, ...keyOf(set));
  removeNotes(file, set);
  file.run(UPDATE_RUN, ...keyOf(set), null);
  file.run(ADD_TO_COUNT, set.tenant, -count);
  return { kind: "Committed", version: next(set.guard) };
}

/** Whether the run exists and still has the version that was read. A version of another store never matches. */
function isRunAt(file: SqliteFile, address: RunAddress, guard: StoreVersion): boolean {
  const row = runRow(file, address);
  return row !== undefined && row["record"] !== null && row["version"] === guard;
}

function isShardAt(file: SqliteFile, address: RunAddress, { after, guard }: ShardWrite): boolean {
  return file.first(SHARD_VERSION, ...keyOf(address), ShardId.format(after.shard))?.["version"] === guard;
}

interface NewShards extends RunAddress {
  readonly created: readonly ShardRecord[];
  readonly limits: ShardLimits;
}

/** Returns why the new shards cannot be created: first the quotas, then ids that are taken. */
function refuseNewShards(file: SqliteFile, set: NewShards): CommitAnswer | undefined {
  const { tenant, created, limits } = set;
  const counts = file.first(COUNTS, tenant)!;
  const overdrawn = checkQuota(
    { tenant: Number(counts["tenant"]), total: Number(counts["total"]) },
    created.length,
    limits,
  );
  if (overdrawn !== undefined) return overdrawn;
  const taken = created.find(
    ({ shard }) => file.first(SHARD_VERSION, ...keyOf(set), ShardId.format(shard)) !== undefined,
  );
  return taken && { kind: "Exists", shard: taken.shard };
}

function addShards(file: SqliteFile, { tenant, created }: NewShards): void {
  for (const record of created) putShard(file, record, FIRST_SHARD_VERSION);
  if (created.length > 0) file.run(ADD_TO_COUNT, tenant, created.length);
}

/** Writes a shard whose guard holds, and returns its new version. */
function writeShard(file: SqliteFile, { guard, after }: ShardWrite): StoreVersion {
  const version = next(guard);
  putShard(file, after, version);
  return version;
}

function next(guard: StoreVersion): number {
  return (guard as number) + VERSION_STEP;
}
