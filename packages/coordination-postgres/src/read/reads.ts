import {
  CapacityHint,
  RunProgress,
  type ClaimListing,
  type RunMoment,
  type RunRead,
  type ServerTime,
} from "@gossip/coordination";
import type { LogicalTime } from "@gossip/contracts";
import type { RunAddress, RunCapacity } from "@gossip/store-kit";
import type { Database } from "../database/database.ts";
import { capacityOf, hintOf, type HintRow } from "../capacity/hints.ts";
import { packedShards } from "../layout/packed-shards.ts";
import { freeFrom, lastAt } from "../claim/claim-index-entry.ts";
import { runVersion } from "../layout/record-version.ts";
import { decodeRun, headOf, rowVersionOf, tenantBytes, type HeadRow } from "../layout/rows.ts";
import { byteaArray, int8Array } from "../layout/server-array.ts";
import { listClaimCandidates } from "../sql/list-claim-candidates.ts";
import { READ_CAPACITIES, READ_HINT } from "../sql/capacities.ts";
import { COUNT_PROGRESS, READ_PROGRESS } from "../sql/read-progress.ts";
import { READ_RUN } from "../sql/runs.ts";
import { READ_SERVER_TIME } from "../sql/read-server-time.ts";
import { readU64, u64Bytes } from "../layout/u64-bytes.ts";
import { STATUS_COUNTS } from "../write/status-counts.ts";

type RunRow = { readonly id: string; readonly version: string; readonly status: string; readonly record: Buffer };
type ListingRow = HeadRow & { readonly earliest: Buffer | null; readonly candidates: Buffer | null };
type ProgressRow = Readonly<Record<"total" | "active" | "leased" | "split" | "parked", string>> & {
  readonly watermark: Buffer | null;
};

const MIN_CANDIDATES = 8;

/** Not the time at which a transaction began: the clock itself. */
export async function readServerTime(database: Database): Promise<ServerTime> {
  const [row] = await database.run<{ readonly at_ms: string }>(READ_SERVER_TIME, []);
  return { atMs: Number(row!.at_ms), precisionMs: 1 };
}

export async function readRun(database: Database, address: RunAddress): Promise<RunRead> {
  const [row] = await database.run<RunRow>(READ_RUN, addressValues(address));
  if (row === undefined) return { kind: "Missing" };
  if (row.status === "Deleted") return { kind: "Deleted" };
  return { kind: "Found", record: decodeRun(address, row.record), version: runVersion(rowVersionOf(row)) };
}

export async function readHint(database: Database, moment: RunMoment): Promise<CapacityHint> {
  const [row] = await database.run<HintRow & { free: number }>(READ_HINT, [
    ...addressValues(moment),
    lastAt(moment.now),
  ]);
  return row === undefined ? CapacityHint.ZERO : hintOf(row, row.free, moment.now);
}

/** A run, a time, and the spread at which counting begins. */
export interface CapacityMoment {
  readonly runId: number;
  readonly now: LogicalTime;
  readonly start: number;
}

/** The capacities at some moments, in their order. */
export async function readCapacities(
  database: Database,
  moments: readonly CapacityMoment[],
): Promise<readonly RunCapacity[]> {
  const columns = [
    int8Array(moments.map(({ runId }) => runId)),
    byteaArray(moments.map(({ start }) => freeFrom(start))),
    byteaArray(moments.map(({ now }) => lastAt(now))),
  ];
  const rows = await database.run<HintRow & { free: number }>(READ_CAPACITIES, columns);
  return rows.map((row, index) => capacityOf(row, row.free, moments[index]!.now));
}

export async function readProgress(database: Database, moment: RunMoment): Promise<RunProgress> {
  const statement = (await database.learnTable(STATUS_COUNTS)) ? READ_PROGRESS : COUNT_PROGRESS;
  const [row] = await database.run<ProgressRow>(statement, [...addressValues(moment), lastAt(moment.now)]);
  if (row === undefined) return RunProgress.NONE;
  const [total, active, split, parked] = [Number(row.total), Number(row.active), Number(row.split), Number(row.parked)];
  const watermark = row.watermark === null ? undefined : new Uint8Array(row.watermark);
  return { total, active, done: total - active - split - parked, split, parked, leased: Number(row.leased), watermark };
}

/** Up to `limit` candidates from the spread `start` on, wrapping around. */
export async function findCandidates(
  database: Database,
  query: RunMoment & { readonly limit: number; readonly start: number },
): Promise<ClaimListing> {
  const [row] = await database.run<ListingRow>(listClaimCandidates(roundUp(query.limit)), [
    ...addressValues(query),
    lastAt(query.now),
    freeFrom(query.start),
    query.limit,
  ]);
  if (row === undefined) return { run: undefined, candidates: [], earliestDeadline: undefined };
  const { tenant, run } = query;
  const found = row.candidates === null ? [] : packedShards({ tenant, run, runId: Number(row.id) }, row.candidates);
  const candidates = found.map((read) => ({ shard: read.record.shard, read }));
  const earliestDeadline = row.earliest === null ? undefined : (readU64(row.earliest) as LogicalTime);
  return { run: headOf(query, row), candidates, earliestDeadline };
}

/** Rounds up to one of a few limits: each is a prepared statement. */
function roundUp(limit: number): number {
  const step = Math.max(MIN_CANDIDATES, 2 ** Math.floor(Math.log2(limit)) / 4);
  return Math.ceil(limit / step) * step;
}

function addressValues({ tenant, run }: RunAddress): Buffer[] {
  return [tenantBytes(tenant), u64Bytes(run)];
}
