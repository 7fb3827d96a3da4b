import type { ShardId } from "@gossip/contracts";
import type { RunHead, RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { corruptionFrom, decodeRunHead, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import { InfraError } from "@gossip/coordination-errors";
import { CorruptStore, type RunAddress } from "@gossip/store-kit";
import type { Rows } from "../engine/rows.ts";
import { RowKind, runKey, shardRecordKey } from "../layout/keyspace.ts";

/** Maximum number of runs whose heads are kept decoded. */
const MAX_KNOWN_HEADS = 256;

/**
 * Reads records, and keeps the heads of recently used runs decoded. Throws `CorruptStore` if a record cannot be read.
 *
 * Every operation on a shard needs the head of its run, and the record of a run that registered ten thousand shards has
 * 160 KB. The row of the head holds nothing but the run's version: while that is the version that was decoded last, so is
 * the head.
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

  /** The version of a run, or `undefined` if it does not exist. */
  runVersion(address: RunAddress): number | undefined {
    return this.hasRun(address) ? this.#rows.lastVersion : undefined;
  }

  isDeleted(address: RunAddress): boolean {
    return this.#rows.has(runKey(RowKind.DeletedRun, address));
  }

  readRun(address: RunAddress): Versioned<RunRecord> | undefined {
    const bytes = this.#rows.get(runKey(RowKind.RunRecord, address));
    if (bytes === undefined) return undefined;
    const version = this.#rows.lastVersion;
    const record = decodeRunRecord(bytes);
    if (!record.ok) throw new CorruptStore(corruptionFrom(record.error, "lmdb.readRun"));
    assertInPlace(record.value, address);
    return { record: record.value, version };
  }

  readHead(address: RunAddress): Versioned<RunHead> | undefined {
    const version = this.runVersion(address);
    if (version === undefined) return undefined;
    const name = `${address.run} ${address.tenant}`;
    const known = this.#heads.get(name);
    if (known?.version === version) return known;

    const bytes = this.#rows.get(runKey(RowKind.RunRecord, address));
    if (bytes === undefined || this.#rows.lastVersion !== version) throw torn();
    const record = decodeRunHead(bytes);
    if (!record.ok) throw new CorruptStore(corruptionFrom(record.error, "lmdb.readRun"));
    assertInPlace(record.value, address);
    const head = { record: record.value, version };
    if (this.#heads.size >= MAX_KNOWN_HEADS) this.#heads.clear();
    this.#heads.set(name, head);
    return head;
  }

  readShard(address: RunAddress, shard: ShardId): Versioned<ShardRecord> | undefined {
    const bytes = this.#rows.get(shardRecordKey(address, shard));
    if (bytes === undefined) return undefined;
    const version = this.#rows.lastVersion;
    const record = decodeShardRecord(bytes);
    if (!record.ok) throw new CorruptStore(corruptionFrom(record.error, "lmdb.readShard"));
    assertInPlace(record.value, address, record.value.shard === shard);
    return { record: record.value, version };
  }

  /** A shard that an index names. */
  readListed(address: RunAddress, shard: ShardId): ShardRecord {
    const read = this.readShard(address, shard);
    if (read === undefined) throw dangling();
    return read.record;
  }

  shardVersion(address: RunAddress, shard: ShardId): number | undefined {
    return this.#rows.has(shardRecordKey(address, shard)) ? this.#rows.lastVersion : undefined;
  }
}

function assertInPlace(record: RunAddress, { tenant, run }: RunAddress, isOwnShard = true): void {
  if (record.tenant === tenant && record.run === run && isOwnShard) return;
  throw misplaced();
}

function misplaced(): CorruptStore {
  return new CorruptStore(
    InfraError.corruption({ operation: "lmdb.readRecord", message: "a record is stored under the key of another one" }),
  );
}

function torn(): CorruptStore {
  return new CorruptStore(
    InfraError.corruption({
      operation: "lmdb.readRun",
      message: "the record of a run and its head have different versions",
    }),
  );
}

function dangling(): CorruptStore {
  return new CorruptStore(
    InfraError.corruption({ operation: "lmdb.listShards", message: "an index names a shard that does not exist" }),
  );
}
