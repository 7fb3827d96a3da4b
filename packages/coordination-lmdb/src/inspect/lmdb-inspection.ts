import type { ShardId } from "@gossip/contracts";
import type { Note, ShardRecord } from "@gossip/coordination";
import { codecErrorInWords, decodeDeletedRun, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import type { InfraError } from "@gossip/coordination-errors";
import {
  RunCensus,
  type CountScope,
  type FsckSource,
  type IndexEntry,
  type RebuiltIndexes,
  type RunView,
  type StatusCounts,
  type StoredCount,
  type StoredRunRecord,
  type StoredShard,
  type StoreView,
} from "@gossip/coordination-fsck";
import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import type { PendingTasks, RunAddress } from "@gossip/store-kit";
import { storedCount } from "../write/counts.ts";
import { INDEX_KINDS, indexEntryOf, listAddresses } from "./inspected-rows.ts";
import { addressOf, keyAfter, lastU64, RowKind, runKey, shardRecordKey, tenantOf } from "../layout/keyspace.ts";
import { failureFrom } from "../engine/lmdb-failure.ts";
import { tryReadNote } from "../layout/note-rows.ts";
import { rebuildIndexes } from "./rebuild-indexes.ts";
import { isRunVersion, isShardVersion } from "../layout/row-version.ts";
import { rangeOf, type RowEntry, type Rows } from "../engine/rows.ts";
import { shardEntries } from "../layout/shard-rows.ts";
import { sumOf } from "../write/status-counts.ts";
import { assertOpen, SnapshotEntries } from "./snapshot-entries.ts";

const UNREADABLE_CENSUS: RunCensus = Object.freeze({ count: -1, digest: 0n });
const COUNT_SCOPES: ReadonlySet<CountScope> = new Set<CountScope>(["Run", "Tenant", "Total"]);

/** The rows of a folder, for checks and repairs. */
export class LmdbInspection implements FsckSource {
  readonly #rows: Rows;
  readonly #pending: PendingTasks;

  constructor(rows: Rows, pending: PendingTasks) {
    this.#rows = rows;
    this.#pending = pending;
  }

  async look(): Promise<StoreView> {
    assertOpen(this.#pending);
    return new LmdbView(this.#rows, this.#pending);
  }

  async rebuildIndexes(): Promise<RebuiltIndexes> {
    assertOpen(this.#pending);
    return this.#pending.track(rebuildIndexes(this.#rows, this.#pending));
  }

  explain(thrown: unknown): InfraError {
    return failureFrom("lmdb.inspect", thrown);
  }
}

class LmdbView implements StoreView {
  readonly countScopes = COUNT_SCOPES;
  readonly #entries: SnapshotEntries;
  readonly #end: () => void;
  #isClosed = false;

  constructor(rows: Rows, pending: PendingTasks) {
    this.#entries = new SnapshotEntries(rows, pending);
    this.#end = pending.begin();
  }

  async *runs(): AsyncGenerator<RunView> {
    for (const address of listAddresses(this.#entries)) yield new LmdbRunView(this.#entries, address);
  }

  async *counts(): AsyncGenerator<StoredCount> {
    for (const { key, value } of this.#entries.of(rangeOf(Buffer.of(RowKind.TotalCount)))) {
      if (key.length === 1) yield { scope: "Total", tenant: undefined, run: undefined, count: storedCount(value) };
    }
    for (const { key, value } of this.#entries.of(rangeOf(Buffer.of(RowKind.TenantCount)))) {
      yield { scope: "Tenant", tenant: tenantOf(key), run: undefined, count: storedCount(value) };
    }
    for (const { key, value } of this.#entries.of(rangeOf(Buffer.of(RowKind.RunCount)))) {
      yield { scope: "Run", ...addressOf(key), count: storedCount(value) };
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#entries.close();
    this.#end();
  }
}

class LmdbRunView implements RunView {
  readonly tenant: RunView["tenant"];
  readonly run: RunView["run"];
  readonly record: StoredRunRecord;
  readonly census: RunCensus | undefined;
  readonly statusCounts: StatusCounts | undefined;
  readonly #entries: SnapshotEntries;
  /** The record that `shards` yielded last. */
  #shown: Uint8Array | undefined;

  constructor(entries: SnapshotEntries, { tenant, run }: RunAddress) {
    this.tenant = tenant;
    this.run = run;
    this.#entries = entries;
    this.record = this.#readRecord();
    const census = this.#row(RowKind.Census);
    // An unreadable census matches no shards, so that it is reported.
    this.census = census && (RunCensus.tryFromBytes(census.value) ?? UNREADABLE_CENSUS);
    this.statusCounts = sumOf(this.#entries.of(rangeOf(runKey(RowKind.StatusCount, this))));
  }

  async *shards(): AsyncGenerator<StoredShard> {
    for await (const entry of this.#entries.walk(rangeOf(runKey(RowKind.ShardRecord, this)))) {
      this.#shown = Uint8Array.from(entry.value);
      yield { shard: lastU64(entry.key) as ShardId, record: readShardRow(entry) };
    }
  }

  async *notes(): AsyncGenerator<Result<Note, string>> {
    for await (const entry of this.#entries.walk(rangeOf(runKey(RowKind.Note, this)))) {
      const note = tryReadNote(entry);
      yield note === undefined ? err("its row is damaged") : ok(note);
    }
  }

  async *entries(): AsyncGenerator<IndexEntry> {
    for (const kind of INDEX_KINDS) {
      for await (const { key } of this.#entries.walk(rangeOf(runKey(kind, this)))) yield indexEntryOf(key);
    }
  }

  async findShard(shard: ShardId): Promise<boolean> {
    const found = this.#entries.get(shardRecordKey(this, shard));
    return found !== undefined && this.#shown !== undefined && compareBytes(found, this.#shown) === 0;
  }

  async findEntry({ key }: IndexEntry): Promise<boolean> {
    return this.#entries.get(Buffer.from(key, "latin1")) !== undefined;
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
    if (stored?.version !== head?.version)
      return { kind: "Unreadable", detail: "the record and its head are of different versions" };
    if (!isRunVersion(stored!.version))
      return { kind: "Unreadable", detail: "the row has a version that no run can have" };
    const record = decodeRunRecord(stored!.value);
    return record.ok
      ? { kind: "Found", record: record.value }
      : { kind: "Unreadable", detail: codecErrorInWords(record.error) };
  }

  #readMark(mark: Uint8Array | undefined): StoredRunRecord {
    if (mark === undefined) return { kind: "Missing" };
    const decoded = decodeDeletedRun(mark);
    if (!decoded.ok) return { kind: "Unreadable", detail: codecErrorInWords(decoded.error) };
    return { kind: this.#row(RowKind.Unswept) === undefined ? "Deleted" : "Removed" };
  }

  #row(kind: RowKind): { readonly value: Uint8Array; readonly version: number | undefined } | undefined {
    const key = runKey(kind, this);
    for (const entry of this.#entries.of({ start: key, end: keyAfter(key) })) {
      return { value: entry.value, version: entry.version };
    }
    return undefined;
  }
}

function readShardRow({ value, version }: RowEntry): Result<ShardRecord, string> {
  if (!isShardVersion(version)) return err("the row has a version that no shard can have");
  const record = decodeShardRecord(value);
  return record.ok ? ok(record.value) : err(codecErrorInWords(record.error));
}
