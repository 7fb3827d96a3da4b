import type { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { codecErrorInWords, decodeDeletedRun, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import type { InfraError } from "@gossip/coordination-errors";
import { err, ok } from "@gossip/stdx";
import { storedCount } from "./counts.ts";
import type {
  CountScope,
  FsckSource,
  IndexEntry,
  RebuiltIndexes,
  RunView,
  StoredCount,
  StoredRunRecord,
  StoredShard,
  StoreView,
} from "./fsck/fsck-source.ts";
import { INDEX_KINDS, indexEntryOf, listAddresses } from "./inspected-rows.ts";
import { addressOf, lastU64, RowKind, runKey, tenantOf, type RunAddress } from "./keyspace.ts";
import { failureFrom } from "./lmdb-failure.ts";
import { rebuildIndexes } from "./rebuild-indexes.ts";
import { rangeOf, type Rows, type Snapshot } from "./rows.ts";
import { shardEntries } from "./shard-rows.ts";

const COUNT_SCOPES: ReadonlySet<CountScope> = new Set<CountScope>(["Run", "Tenant", "Total"]);

/** A folder's rows, to be checked and mended. */
export class LmdbInspection implements FsckSource {
  readonly #rows: Rows;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  async look(): Promise<StoreView> {
    return new LmdbView(this.#rows);
  }

  rebuildIndexes(): Promise<RebuiltIndexes> {
    return rebuildIndexes(this.#rows);
  }

  explain(thrown: unknown): InfraError {
    return failureFrom("lmdb.inspect", thrown);
  }
}

/** The rows as they were at one moment. Pages that are freed meanwhile are kept, so that a long look makes the file grow. */
class LmdbView implements StoreView {
  readonly countScopes = COUNT_SCOPES;
  readonly #rows: Rows;
  readonly #snapshot: Snapshot;

  constructor(rows: Rows) {
    this.#rows = rows;
    this.#snapshot = rows.holdSnapshot();
  }

  async *runs(): AsyncGenerator<RunView> {
    for (const address of listAddresses(this.#rows, this.#snapshot)) yield new LmdbRunView(this.#rows, this.#snapshot, address);
  }

  async *counts(): AsyncGenerator<StoredCount> {
    for (const { key, value } of this.#rows.entriesAt(this.#snapshot, rangeOf(Buffer.of(RowKind.TotalCount)))) {
      if (key.length === 1) yield { scope: "Total", tenant: undefined, run: undefined, count: storedCount(value) };
    }
    for (const { key, value } of this.#rows.entriesAt(this.#snapshot, rangeOf(Buffer.of(RowKind.TenantCount)))) {
      yield { scope: "Tenant", tenant: tenantOf(key), run: undefined, count: storedCount(value) };
    }
    for (const { key, value } of this.#rows.entriesAt(this.#snapshot, rangeOf(Buffer.of(RowKind.RunCount)))) {
      yield { scope: "Run", ...addressOf(key), count: storedCount(value) };
    }
  }

  async close(): Promise<void> {
    this.#snapshot.done();
  }
}

class LmdbRunView implements RunView {
  readonly tenant: RunView["tenant"];
  readonly run: RunView["run"];
  readonly record: StoredRunRecord;
  readonly #rows: Rows;
  readonly #snapshot: Snapshot;

  constructor(rows: Rows, snapshot: Snapshot, { tenant, run }: RunAddress) {
    this.tenant = tenant;
    this.run = run;
    this.#rows = rows;
    this.#snapshot = snapshot;
    this.record = this.#readRecord();
  }

  async *shards(): AsyncGenerator<StoredShard> {
    for (const { key, value } of this.#rows.entriesAt(this.#snapshot, rangeOf(runKey(RowKind.ShardRecord, this)))) {
      const record = decodeShardRecord(value);
      yield { shard: lastU64(key) as ShardId, record: record.ok ? ok(record.value) : err(codecErrorInWords(record.error)) };
    }
  }

  async *entries(): AsyncGenerator<IndexEntry> {
    for (const kind of INDEX_KINDS) {
      for (const { key } of this.#rows.entriesAt(this.#snapshot, rangeOf(runKey(kind, this)))) yield indexEntryOf(key);
    }
  }

  entriesOf(record: ShardRecord): readonly IndexEntry[] {
    return shardEntries(this, record).map(indexEntryOf);
  }

  #readRecord(): StoredRunRecord {
    const head = this.#row(RowKind.RunHead);
    const stored = this.#row(RowKind.RunRecord);
    const mark = this.#row(RowKind.DeletedRun);
    if (stored === undefined && head === undefined) return this.#readMark(mark?.value);
    if (mark !== undefined) return { kind: "Unreadable", detail: "the run is there, and the mark of its removal too" };
    if (stored?.version !== head?.version) return { kind: "Unreadable", detail: "the record and its head are of different versions" };
    const record = decodeRunRecord(stored!.value);
    return record.ok ? { kind: "Found", record: record.value } : { kind: "Unreadable", detail: codecErrorInWords(record.error) };
  }

  #readMark(mark: Uint8Array | undefined): StoredRunRecord {
    if (mark === undefined) return { kind: "Missing" };
    const decoded = decodeDeletedRun(mark);
    if (!decoded.ok) return { kind: "Unreadable", detail: codecErrorInWords(decoded.error) };
    return { kind: this.#row(RowKind.Unswept) === undefined ? "Deleted" : "Removed" };
  }

  #row(kind: RowKind): { readonly value: Uint8Array; readonly version: number | undefined } | undefined {
    const key = runKey(kind, this);
    for (const entry of this.#rows.entriesAt(this.#snapshot, { start: key, end: rangeOf(key).end })) {
      return { value: entry.value, version: entry.version };
    }
    return undefined;
  }
}

