import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, CommitAnswer, ShardRecord, UpdateShardSet } from "@gossip/coordination";
import { assertOwn } from "./assert-own.ts";
import type { Database } from "./database.ts";
import { hintOf, hintWith, type HintRow } from "./hints.ts";
import { nextVersion, readRunVersion, readShardVersion, shardVersion, type RowVersion } from "./record-version.ts";
import { ShardPack } from "./shard-pack.ts";
import { UPDATE_SHARDS, UPDATE_SHARDS_OF_RUNS } from "./sql/update-shards.ts";
import { u64Bytes } from "./u64-bytes.ts";

const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** A set whose guards can hold: they are versions that we gave out. */
interface Candidate {
  /** Its place among the answers. */
  readonly index: number;
  readonly set: UpdateShardSet;
  readonly guard: RowVersion;
  readonly runGuard: string | null;
}

/** A run at a time, whose capacity somebody asks for. */
interface Moment {
  readonly runId: string;
  readonly now: LogicalTime;
}

type WrittenRow = { readonly ordinal: string } & HintRow;

/** Update shards, each for itself, in one statement. */
export async function updateShards(database: Database, sets: readonly UpdateShardSet[]): Promise<readonly CommitAnswer[]> {
  const answers: CommitAnswer[] = sets.map(() => CONFLICT);
  const candidates = sets.flatMap(toCandidate).toSorted(byRow);
  if (candidates.length === 0) return answers;

  const moments = momentsOf(candidates);
  const statement = candidates.some(({ runGuard }) => runGuard !== null) ? UPDATE_SHARDS_OF_RUNS : UPDATE_SHARDS;
  const rows = await database.run<WrittenRow>(statement, valuesOf(candidates, [...moments.values()]));

  const written = rows.flatMap(({ ordinal }) => (Number(ordinal) > 0 ? [candidates[Number(ordinal) - 1]!] : []));
  const hints = hintsOf(rows, [...moments.keys()], [...moments.values()], written);
  for (const { index, set, guard } of written) {
    const version = shardVersion({ runId: guard.runId, version: nextVersion(guard.version) });
    const hint = set.hintAt === undefined ? undefined : hints.get(nameOf({ runId: guard.runId, now: set.hintAt }));
    answers[index] = { kind: "Committed", version, hint };
  }
  return answers;
}

function toCandidate(set: UpdateShardSet, index: number): Candidate[] {
  assertOwn(set, set.shard.after);
  const guard = readShardVersion(set.shard.guard);
  if (guard === undefined) return [];
  if (set.runGuard === undefined) return [{ index, set, guard, runGuard: null }];
  const runGuard = readRunVersion(set.runGuard);
  return runGuard === undefined || runGuard.runId !== guard.runId ? [] : [{ index, set, guard, runGuard: runGuard.version }];
}

/** All writers go through rows in the same order, so that two of them wait for each other as seldom as can be. */
function byRow(a: Candidate, b: Candidate): number {
  if (a.guard.runId !== b.guard.runId) return BigInt(a.guard.runId) < BigInt(b.guard.runId) ? -1 : 1;
  return a.set.shard.after.shard < b.set.shard.after.shard ? -1 : 1;
}

function valuesOf(candidates: readonly Candidate[], moments: readonly Moment[]): unknown[] {
  const pack = new ShardPack(candidates.map(({ set }) => set.shard.after), { isNew: false });
  return [
    pack.bytes,
    candidates.map(({ guard }) => guard.runId),
    candidates.map(({ guard }) => guard.version),
    candidates.map(({ runGuard }) => runGuard),
    pack.statuses,
    pack.parkReasons,
    pack.hasLease,
    pack.attempts,
    pack.places,
    pack.recordSizes,
    pack.keySizes,
    moments.map(({ runId }) => runId),
    moments.map(({ now }) => u64Bytes(now)),
  ];
}

/** Each run and time that is asked for, once. */
function momentsOf(candidates: readonly Candidate[]): Map<string, Moment> {
  const moments = new Map<string, Moment>();
  for (const { set, guard } of candidates) {
    if (set.hintAt === undefined) continue;
    const moment = { runId: guard.runId, now: set.hintAt };
    moments.set(nameOf(moment), moment);
  }
  return moments;
}

function nameOf({ runId, now }: Moment): string {
  return `${runId} ${now}`;
}

function hintsOf(rows: readonly WrittenRow[], names: readonly string[], moments: readonly Moment[], written: readonly Candidate[]): Map<string, CapacityHint> {
  const shardsOf = new Map<string, ShardRecord[]>();
  for (const { guard, set } of written) {
    const shards = shardsOf.get(guard.runId);
    if (shards === undefined) shardsOf.set(guard.runId, [set.shard.after]);
    else shards.push(set.shard.after);
  }
  const hints = new Map<string, CapacityHint>();
  for (const row of rows) {
    const index = -Number(row.ordinal) - 1;
    if (index < 0) continue;
    const { runId, now } = moments[index]!;
    hints.set(names[index]!, hintWith(hintOf(row, now), shardsOf.get(runId) ?? [], now));
  }
  return hints;
}
