import { LogicalTime, RunId, ShardId } from "@gossip/contracts";
import type { RunHead, RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import {
  corruptionFrom,
  decodeRunHead,
  decodeRunRecord,
  decodeShardRecord,
  encodeShardRecord,
  type CodecError,
} from "@gossip/coordination-codec";
import type { Result } from "@gossip/stdx";
import { CorruptStore, mixOf, type RunAddress } from "@gossip/store-kit";
import { FREE } from "./schema.ts";
import type { Row, SqliteFile } from "./sqlite-file.ts";

const RUN = "SELECT version, record FROM runs WHERE tenant = ? AND run = ?";
const SHARD = "SELECT version, record FROM shards WHERE tenant = ? AND run = ? AND shard = ?";
const PUT_SHARD = `
  INSERT OR REPLACE INTO shards (tenant, run, shard, version, record, range_start, status, deadline, mix, last_key)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The first columns of every key. */
export function keyOf({ tenant, run }: RunAddress): [string, string] {
  return [tenant, RunId.format(run)];
}

/** The row of a run, which is a mark without a record if the run was removed. */
export function runRow(file: SqliteFile, address: RunAddress): Row | undefined {
  return file.first(RUN, ...keyOf(address));
}

export function readHead(file: SqliteFile, address: RunAddress): Versioned<RunHead> | undefined {
  const row = runRow(file, address);
  return row === undefined || row["record"] === null ? undefined : versioned(row, decodeRunHead);
}

export function readShard(file: SqliteFile, address: RunAddress, shard: ShardId): Versioned<ShardRecord> | undefined {
  const row = file.first(SHARD, ...keyOf(address), ShardId.format(shard));
  return row && versioned(row, decodeShardRecord);
}

export function putShard(file: SqliteFile, record: ShardRecord, version: number): void {
  const { shard, spec, status, lease, cursor } = record;
  file.run(
    PUT_SHARD,
    ...keyOf(record),
    ShardId.format(shard),
    version,
    encodeShardRecord(record),
    spec.keyRangeStart,
    status,
    lease === undefined ? FREE : LogicalTime.format(lease.deadline),
    mixOf(shard),
    cursor.lastKey ?? null,
  );
}

export function versioned<Record>(
  { version, record }: Row,
  decode: (bytes: Uint8Array) => Result<Record, CodecError>,
): Versioned<Record> {
  return { record: decoded(record as Uint8Array, decode), version: version as number };
}

/** Throws `CorruptStore` unless the bytes are a record. */
export function decoded<Record>(bytes: Uint8Array, decode: (bytes: Uint8Array) => Result<Record, CodecError>): Record {
  const record = decode(bytes);
  if (!record.ok) throw new CorruptStore(corruptionFrom(record.error, "sqlite.decode"));
  return record.value;
}

export function decodeRunRow(row: Row): RunRecord {
  return decoded(row["record"] as Uint8Array, decodeRunRecord);
}
