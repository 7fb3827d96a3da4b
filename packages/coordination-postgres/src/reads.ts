import {
  CapacityHint,
  RunProgress,
  type ClaimListing,
  type ClaimQuery,
  type RunMoment,
  type RunRead,
} from "@gossip/coordination";
import type { LogicalTime } from "@gossip/contracts";
import type { ClaimPlaces } from "./claim-places.ts";
import { claimSpread } from "./claim-spread.ts";
import type { Database } from "./database.ts";
import { hintOf, type HintRow } from "./hints.ts";
import { runVersion } from "./record-version.ts";
import { decodeRun, headOf, joinedShardOf, rowVersionOf, tenantBytes, type HeadRow, type JoinedShardRow, type RunAddress } from "./rows.ts";
import { listClaimCandidates as candidatesUpTo } from "./sql/list-claim-candidates.ts";
import { READ_HINT } from "./sql/read-hint.ts";
import { READ_PROGRESS } from "./sql/read-progress.ts";
import { READ_RUN } from "./sql/read-run.ts";
import { readU64, u64Bytes } from "./u64-bytes.ts";

type RunRow = { readonly id: string; readonly version: string; readonly status: string; readonly record: Buffer };
type ShardRow = HeadRow & JoinedShardRow;
type CandidateRow = ShardRow & { readonly earliest: Buffer | null };
type ProgressRow = Readonly<Record<"total" | "active" | "leased" | "split" | "parked", string>> & { readonly watermark: Buffer | null };

/** Most candidates that one listing gives, whatever is asked for. */
const MAX_CANDIDATES = 1024;
const MIN_CANDIDATES = 8;

export async function readRun(database: Database, address: RunAddress): Promise<RunRead> {
  const [row] = await database.run<RunRow>(READ_RUN, addressValues(address));
  if (row === undefined) return { kind: "Missing" };
  if (row.status === "Deleted") return { kind: "Deleted" };
  return { kind: "Found", record: decodeRun(address, row.record), version: runVersion(rowVersionOf(row)) };
}

export async function readHint(database: Database, moment: RunMoment): Promise<CapacityHint> {
  const [row] = await database.run<HintRow & { free: number }>(READ_HINT, [...addressValues(moment), u64Bytes(moment.now)]);
  return row === undefined ? CapacityHint.ZERO : hintOf(row, row.free, moment.now);
}

export async function readProgress(database: Database, moment: RunMoment): Promise<RunProgress> {
  const [row] = await database.run<ProgressRow>(READ_PROGRESS, [...addressValues(moment), u64Bytes(moment.now)]);
  if (row === undefined) return RunProgress.NONE;
  const [total, active, split, parked] = [Number(row.total), Number(row.active), Number(row.split), Number(row.parked)];
  const watermark = row.watermark === null ? undefined : new Uint8Array(row.watermark);
  return { total, active, done: total - active - split - parked, split, parked, leased: Number(row.leased), watermark };
}

export async function listClaimCandidates(database: Database, query: ClaimQuery, places: ClaimPlaces): Promise<ClaimListing> {
  const limit = Math.min(query.limit, MAX_CANDIDATES);
  const { listing } = await places.list(query, { spread: query.spread, limit }, async (start) => {
    const rows = await database.run<CandidateRow>(candidatesUpTo(roundUp(limit)), [...addressValues(query), u64Bytes(query.now), start]);
    const listed = listingOf(query, rows, limit);
    return { listing: listed, found: listed.candidates.map(({ shard }) => claimSpread(shard)) };
  });
  return listing;
}

function listingOf(address: RunAddress, rows: readonly CandidateRow[], limit: number): ClaimListing {
  const [first] = rows;
  if (first === undefined) return { run: undefined, candidates: [], earliestDeadline: undefined };
  const candidates = rows.slice(0, limit).flatMap((row) => {
    const read = joinedShardOf(address, row);
    return read === undefined ? [] : [{ shard: read.record.shard, read }];
  });
  const earliestDeadline = first.earliest === null ? undefined : (readU64(first.earliest) as LogicalTime);
  return { run: headOf(address, first), candidates, earliestDeadline };
}

/** To the next of a few: each limit is a statement of its own, and there must not be many. */
function roundUp(limit: number): number {
  const step = Math.max(MIN_CANDIDATES, 2 ** Math.floor(Math.log2(limit)) / 4);
  return Math.ceil(limit / step) * step;
}

function addressValues({ tenant, run }: RunAddress): Buffer[] {
  return [tenantBytes(tenant), u64Bytes(run)];
}
