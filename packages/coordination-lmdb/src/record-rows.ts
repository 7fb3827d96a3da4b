import type { ShardId } from "@gossip/contracts";
import type { RunHead, RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { corruptionFrom, decodeRunHead, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import { InfraError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { RowKind, runKey, shardRecordKey, type RunAddress } from "./keyspace.ts";
import type { Rows } from "./rows.ts";

/** Most runs whose heads are kept decoded. */
const MAX_KNOWN_HEADS = 256;

/**
 * Reads records, and knows the heads of the runs that it has met.
 *
 * Every operation on a shard needs its run's head, and a run that registered ten thousand shards has a record of 160 KB
 * to find it in. The head's row has the run's version and nothing else: as long as that is
 * the one that was decoded last, the head is, too.
 */
export class RecordRows {
  readonly #rows: Rows;
  readonly #heads = new Map<string, Versioned<RunHead>>();

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  hasRun(address: RunAddress): boolean {
    return this.#rows.has(runKey(RowKind.RunHead, address));
  }

  /** The version of a run, or `undefined` where there is none. */
  runVersion(address: RunAddress): number | undefined {
    return this.#rows.has(runKey(RowKind.RunHead, address)) ? this.#rows.lastVersion : undefined;
  }

  isDeleted(address: RunAddress): boolean {
    return this.#rows.has(runKey(RowKind.DeletedRun, address));
  }

  readRun(address: RunAddress): Result<Versioned<RunRecord> | undefined, InfraError> {
    const bytes = this.#rows.get(runKey(RowKind.RunRecord, address));
    if (bytes === undefined) return ok(undefined);
    const version = this.#rows.lastVersion;
    const record = decodeRunRecord(bytes);
    if (!record.ok) return err(corruptionFrom(record.error, "lmdb.readRun"));
    if (record.value.tenant !== address.tenant || record.value.run !== address.run) return err(misplaced());
    return ok({ record: record.value, version });
  }

  readHead(address: RunAddress): Result<Versioned<RunHead> | undefined, InfraError> {
    const version = this.runVersion(address);
    if (version === undefined) return ok(undefined);
    const name = `${address.run} ${address.tenant}`;
    const known = this.#heads.get(name);
    if (known?.version === version) return ok(known);

    const bytes = this.#rows.get(runKey(RowKind.RunRecord, address));
    if (bytes === undefined || this.#rows.lastVersion !== version) return err(torn());
    const record = decodeRunHead(bytes);
    if (!record.ok) return err(corruptionFrom(record.error, "lmdb.readRun"));
    if (record.value.tenant !== address.tenant || record.value.run !== address.run) return err(misplaced());
    const head = { record: record.value, version };
    if (this.#heads.size >= MAX_KNOWN_HEADS) this.#heads.clear();
    this.#heads.set(name, head);
    return ok(head);
  }

  readShard(address: RunAddress, shard: ShardId): Result<Versioned<ShardRecord> | undefined, InfraError> {
    const bytes = this.#rows.get(shardRecordKey(address, shard));
    if (bytes === undefined) return ok(undefined);
    const version = this.#rows.lastVersion;
    const record = decodeShardRecord(bytes);
    if (!record.ok) return err(corruptionFrom(record.error, "lmdb.readShard"));
    const { tenant, run, shard: own } = record.value;
    if (tenant !== address.tenant || run !== address.run || own !== shard) return err(misplaced());
    return ok({ record: record.value, version });
  }

  /** A shard that an index has named. */
  readListed(address: RunAddress, shard: ShardId): Result<ShardRecord, InfraError> {
    const read = this.readShard(address, shard);
    if (!read.ok) return read;
    return read.value === undefined ? err(dangling()) : ok(read.value.record);
  }

  shardVersion(address: RunAddress, shard: ShardId): number | undefined {
    return this.#rows.has(shardRecordKey(address, shard)) ? this.#rows.lastVersion : undefined;
  }
}

function misplaced(): InfraError {
  return InfraError.corruption({ operation: "lmdb.readRecord", message: "a record is stored under another's key" });
}

function torn(): InfraError {
  return InfraError.corruption({
    operation: "lmdb.readRun",
    message: "a run's record and its head are of different versions",
  });
}

function dangling(): InfraError {
  return InfraError.corruption({ operation: "lmdb.listShards", message: "an index names a shard that is not there" });
}
