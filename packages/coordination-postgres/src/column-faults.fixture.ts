import { decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import type { Pool } from "pg";
import { claimSpread } from "./claim-spread.ts";
import { u64Bytes } from "./u64-bytes.ts";

const hex = (bytes: Uint8Array | null | undefined): string | undefined => (bytes == null ? undefined : Buffer.from(bytes).toString("hex"));
const u64 = (value: bigint | undefined): string | undefined => (value === undefined ? undefined : hex(u64Bytes(value)));

/** Rows whose columns say something else than their records, and counts that are not what there is. Sentences. */
export async function findColumnFaults(pool: Pool, schema: string): Promise<string[]> {
  const faults: string[] = [];
  const { rows: shards } = await pool.query(`SELECT s.*, r.tenant, r.run FROM ${schema}.shards s LEFT JOIN ${schema}.runs r ON r.id = s.run_id AND r.status <> 'Deleted'`);
  for (const row of shards) {
    const decoded = decodeShardRecord(row.record);
    if (!decoded.ok) {
      faults.push(`a shard cannot be read: ${decoded.error.kind}`);
      continue;
    }
    const { tenant, run, shard, status, parkReason, lease, fenceEpoch, attempts, parent, spec, cursor } = decoded.value;
    const said = {
      tenant, run: u64(run), shard: u64(shard), status, parkReason, owner: u64(lease?.owner), deadline: u64(lease?.deadline),
      claimableAt: u64(lease?.deadline ?? 0n), spread: String(claimSpread(shard)), fence: u64(fenceEpoch), attempts: String(attempts),
      parent: u64(parent), start: hex(spec.keyRangeStart), key: hex(cursor.lastKey),
    };
    const stored = {
      tenant: hex(row.tenant), run: hex(row.run), shard: hex(row.shard), status: row.status, parkReason: row.park_reason ?? undefined, owner: hex(row.lease_owner),
      deadline: hex(row.lease_deadline), claimableAt: hex(row.claimable_at), spread: row.spread, fence: hex(row.fence), attempts: row.attempts,
      parent: hex(row.parent), start: hex(row.key_range_start), key: hex(row.cursor_key),
    };
    for (const name of Object.keys(said) as (keyof typeof said)[]) {
      if (said[name] !== stored[name]) faults.push(`a shard's column ${name} differs from its record`);
    }
  }
  const { rows: runs } = await pool.query(`SELECT r.*, (SELECT count(*) FROM ${schema}.shards s WHERE s.run_id = r.id) AS counted FROM ${schema}.runs r`);
  for (const row of runs) {
    if (row.counted !== row.shard_count) faults.push("a run's count of shards is wrong");
    if (row.status === "Deleted") continue;
    const decoded = decodeRunRecord(row.record);
    if (!decoded.ok || decoded.value.status !== row.status || u64(decoded.value.config.leaseDuration) !== hex(row.lease_duration)) faults.push("a run's columns differ from its record");
  }
  const { rows: counts } = await pool.query(`
    SELECT t.shard_count = (SELECT count(*) FROM ${schema}.shards s JOIN ${schema}.runs r ON r.id = s.run_id WHERE r.tenant = t.tenant) AS is_right FROM ${schema}.tenants t
    UNION ALL SELECT shard_count = (SELECT count(*) FROM ${schema}.shards) FROM ${schema}.totals`);
  if (counts.some(({ is_right: isRight }) => isRight !== true)) faults.push("a count of shards is wrong");
  return faults;
}
