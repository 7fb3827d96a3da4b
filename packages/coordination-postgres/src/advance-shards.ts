import type { CommitAnswer, ShardWrite } from "@gossip/coordination";
import {
  committed,
  CONFLICT,
  isOneRun,
  recordsOf,
  whichWritten,
  type Candidate,
  type WrittenRow,
} from "./candidate.ts";
import type { Database } from "./database.ts";
import { int8Array, u64Array } from "./server-array.ts";
import { cursorColumns, encodeOne } from "./shard-columns.ts";
import { ADVANCE_SHARD, ADVANCE_SHARDS, ADVANCE_SHARDS_OF_RUN } from "./sql/advance-shards.ts";
import { u64Bytes } from "./u64-bytes.ts";
import type { UpdateParts } from "./update-parts.ts";

/** Whether all of them change nothing but progress, so that their places stay and their runs' capacities too. The guards vouch for what was. */
export function areAdvances(candidates: readonly Candidate[]): boolean {
  return candidates.every(({ set, runGuard }) => runGuard === null && staysInPlace(set.shard));
}

function staysInPlace({ before, after }: ShardWrite): boolean {
  return (
    before.status === after.status &&
    before.parkReason === after.parkReason &&
    before.lease === after.lease &&
    before.fenceEpoch === after.fenceEpoch
  );
}

/** Write progress, and nothing else. */
export async function advanceShards(
  { database, capacities }: UpdateParts,
  candidates: readonly Candidate[],
): Promise<readonly CommitAnswer[]> {
  const looking = capacities.hintsFor(candidates);
  const writing = candidates.length === 1 ? advanceOne(database, candidates[0]!) : advanceMany(database, candidates);
  // Both at once: the write changes nothing of what is looked up.
  const [isWritten, hints] = "then" in looking ? await Promise.all([writing, looking]) : [await writing, looking];
  return candidates.map((candidate, index) => (isWritten(index) ? committed(candidate, hints[index]) : CONFLICT));
}

async function advanceOne(database: Database, { guard, set }: Candidate): Promise<(index: number) => boolean> {
  const { after } = set.shard;
  const values = [
    guard.runId,
    u64Bytes(after.shard),
    guard.version,
    after.attempts,
    after.cursor.lastKey ?? null,
    encodeOne(after),
  ];
  const written = await database.change(ADVANCE_SHARD, values);
  return () => written === 1;
}

async function advanceMany(database: Database, candidates: readonly Candidate[]): Promise<(index: number) => boolean> {
  const records = recordsOf(candidates);
  const columns = [
    u64Array(records.map(({ shard }) => shard)),
    int8Array(candidates.map(({ guard }) => guard.version)),
    ...cursorColumns(records),
  ];
  const [row] = isOneRun(candidates)
    ? await database.run<WrittenRow>(ADVANCE_SHARDS_OF_RUN, [candidates[0]!.guard.runId, ...columns])
    : await database.run<WrittenRow>(ADVANCE_SHARDS, [
        int8Array(candidates.map(({ guard }) => guard.runId)),
        ...columns,
      ]);
  return whichWritten(row, candidates.length);
}
