import { LogicalTime, type ShardId } from "@gossip/contracts";
import { CapacityHint, MAX_CLAIM_COUNT, type ClaimQuery, type RunMoment } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import { keyOf } from "./records.ts";
import { FREE } from "./schema.ts";
import type { SqliteFile } from "./sqlite-file.ts";

const CLAIMS = "FROM shards WHERE tenant = ? AND run = ? AND status = 'Active'";
const FREE_FROM_SPREAD = `SELECT shard ${CLAIMS} AND deadline = '${FREE}' AND mix >= ? ORDER BY mix LIMIT ?`;
const FREE_BEFORE_SPREAD = `SELECT shard ${CLAIMS} AND deadline = '${FREE}' AND mix < ? ORDER BY mix LIMIT ?`;
const EXPIRED = `SELECT shard ${CLAIMS} AND deadline > '${FREE}' AND deadline <= ? ORDER BY deadline LIMIT ?`;
const FIRST_DEADLINE = `SELECT deadline ${CLAIMS} AND deadline > ? ORDER BY deadline LIMIT 1`;
const AVAILABLE = `SELECT count(*) AS count FROM (SELECT 1 ${CLAIMS} AND deadline <= ? LIMIT ${MAX_CLAIM_COUNT})`;
const STARVED = "SELECT starved_until FROM runs WHERE tenant = ? AND run = ? AND record IS NOT NULL";
const MARK_STARVED = `
  UPDATE runs SET starved_until = ?3
  WHERE tenant = ?1 AND run = ?2 AND record IS NOT NULL AND (starved_until IS NULL OR starved_until < ?3)`;

/** Free shards from `spread` on, then the free ones before it, then shards whose lease has expired. */
export function listClaimable(file: SqliteFile, query: ClaimQuery): ShardId[] {
  const { limit, spread, now } = query;
  const found: ShardId[] = [];
  for (const [sql, bound] of [
    [FREE_FROM_SPREAD, spread],
    [FREE_BEFORE_SPREAD, spread],
    [EXPIRED, LogicalTime.format(now)],
  ] as const) {
    if (found.length === limit) break;
    const rows = file.all(sql, ...keyOf(query), bound, limit - found.length);
    for (const row of rows) found.push(BigInt(`0x${String(row["shard"])}`) as ShardId);
  }
  return found;
}

/** The first deadline of the leases that are held at `now`. */
export function earliestDeadline(file: SqliteFile, moment: RunMoment): LogicalTime | undefined {
  const row = file.first(FIRST_DEADLINE, ...keyOf(moment), LogicalTime.format(moment.now));
  return row && (BigInt(`0x${String(row["deadline"])}`) as LogicalTime);
}

export function readHint(file: SqliteFile, moment: RunMoment): CapacityHint {
  const run = file.first(STARVED, ...keyOf(moment));
  if (run === undefined) return CapacityHint.ZERO;
  const now = LogicalTime.format(moment.now);
  const starvedUntil = run["starved_until"] as string | null;
  return {
    availableCount: Number(file.first(AVAILABLE, ...keyOf(moment), now)!["count"]),
    earliestDeadline: earliestDeadline(file, moment),
    isStarved: starvedUntil !== null && now < starvedUntil,
  };
}

/** Keeps the latest mark, and writes nothing if there is a later one. */
export function markStarved(file: SqliteFile, mark: RunAddress, until: LogicalTime): void {
  file.run(MARK_STARVED, ...keyOf(mark), LogicalTime.format(until));
}
