import { CursorSemantics, RunStatus, TenantId, type RunId, type ShardId } from "@gossip/contracts";
import type { RunHead, RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { corruptionFrom, decodeRunRecord, decodeShardRecord, type CodecError } from "@gossip/coordination-codec";
import { InfraError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { CorruptStore, type RunAddress } from "@gossip/store-kit";
import { runVersion, shardVersion, type RowVersion } from "./record-version.ts";
import { readU64 } from "./u64-bytes.ts";

/** The columns that every statement that finds a run returns first. */
export interface HeadRow {
  readonly id: string;
  readonly version: string;
  readonly status: string;
  readonly cursor_semantics: string;
  readonly lease_duration: Buffer;
  readonly max_shard_retries: string | null;
}

/** The columns of a shard that was joined to its run; null if it does not exist. */
export interface JoinedShardRow {
  readonly shard: Buffer | null;
  readonly shard_version: string;
  readonly record: Buffer;
}

export function tenantBytes(tenant: TenantId): Buffer {
  return Buffer.from(tenant, "hex");
}

/** A run's head from its columns, which are written together with the record. The record of a large run is large. */
export function headOf({ tenant, run }: RunAddress, row: HeadRow): Versioned<RunHead> {
  const { cursor_semantics: cursorSemantics, max_shard_retries: retries, status } = row;
  const leaseDuration = readU64(row.lease_duration);
  if (!CursorSemantics.is(cursorSemantics) || !RunStatus.is(status) || leaseDuration === 0n) {
    throw new CorruptStore(
      InfraError.corruption({
        operation: "postgres.readRun",
        message: "the columns of a run are not those of any run",
      }),
    );
  }
  const config = Object.freeze({
    cursorSemantics,
    leaseDuration,
    maxShardRetries: retries === null ? undefined : Number(retries),
  });
  return { record: { tenant, run, config, status }, version: runVersion(rowVersionOf(row)) };
}

/** The driver returns `bigint` columns as text. Ours count up from 1, and stay far below 2^53. */
export function rowVersionOf({ id, version }: { readonly id: string; readonly version: string }): RowVersion {
  return { runId: Number(id), version: Number(version) };
}

export function decodeRun({ tenant, run }: RunAddress, record: Buffer): RunRecord {
  const decoded = decodeRunRecord(record);
  if (!decoded.ok) throw new CorruptStore(corruptionFrom(decoded.error, "postgres.readRun"));
  if (decoded.value.tenant !== tenant || decoded.value.run !== run) throw misplaced();
  return decoded.value;
}

export function decodeShard(
  address: RunAddress,
  row: { readonly shard: Buffer; readonly record: Buffer },
): ShardRecord {
  return ownShard(address, shardIdOf(row.shard), decodeShardRecord(row.record));
}

/** Returns a decoded record if it is the shard of its row. */
export function ownShard(
  { tenant, run }: RunAddress,
  id: ShardId,
  decoded: Result<ShardRecord, CodecError>,
): ShardRecord {
  if (!decoded.ok) throw new CorruptStore(corruptionFrom(decoded.error, "postgres.readShard"));
  const { tenant: ownTenant, run: ownRun, shard } = decoded.value;
  if (ownTenant !== tenant || ownRun !== run || shard !== id) throw misplaced();
  return decoded.value;
}

export function joinedShardOf(address: RunAddress, row: HeadRow & JoinedShardRow): Versioned<ShardRecord> | undefined {
  const { shard, record } = row;
  if (shard === null) return undefined;
  return {
    record: decodeShard(address, { shard, record }),
    version: shardVersion({ runId: Number(row.id), version: Number(row.shard_version) }),
  };
}

export function shardIdOf(bytes: Buffer): ShardId {
  return readU64(bytes) as ShardId;
}

export function runIdOf(bytes: Buffer): RunId {
  return readU64(bytes) as RunId;
}

export function tenantOf(bytes: Buffer): TenantId {
  return TenantId.fromBytes(bytes);
}

function misplaced(): CorruptStore {
  return new CorruptStore(
    InfraError.corruption({ operation: "postgres.readRecord", message: "a record is stored under another's key" }),
  );
}
