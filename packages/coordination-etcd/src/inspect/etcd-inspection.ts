import { RunId, TenantId, type ShardId } from "@gossip/contracts";
import type { Note, ShardRecord } from "@gossip/coordination";
import { codecErrorInWords, decodeDeletedRun, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import type { InfraError } from "@gossip/coordination-errors";
import type {
  CountScope,
  FsckSource,
  IndexEntry,
  RebuiltIndexes,
  RunCensus,
  RunView,
  StatusCounts,
  StoredCount,
  StoredRunRecord,
  StoredShard,
  StoreView,
} from "@gossip/coordination-fsck";
import type { KeyValue } from "@gossip/etcd-client";
import { err, ok, type Result } from "@gossip/stdx";
import { closedFailure, CorruptStore } from "@gossip/store-kit";
import { readCensus } from "../write/census.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { storedCount } from "../write/counts.ts";
import { failureFrom } from "../cluster/etcd-failure.ts";
import {
  entriesOf,
  findKeys,
  findOrphans,
  findRunsOfNotes,
  indexEntryOf,
  namedBy,
  type FoundRun,
} from "./inspected-keys.ts";
import type { KnownCapacities } from "../capacity/known-capacities.ts";
import { INDEX_KINDS, pathOf, ShardKind, shardOf, type RunAddress, type Space } from "../layout/layout.ts";
import { notesOfRun, parseNoteKey } from "../layout/note-keys.ts";
import { rebuildIndexes } from "./rebuild-indexes.ts";
import { readStatusCounts } from "./status-counts.ts";
import type { StoreParts } from "../store-parts.ts";

const COUNT_SCOPES: ReadonlySet<CountScope> = new Set<CountScope>(["Tenant", "Total"]);
const UNKNOWN_RUN: RunAddress = { tenant: TenantId.ZERO, run: RunId.fromRaw(0n) };

/** Checks and repairs the keys of a store. */
export class EtcdInspection implements FsckSource {
  readonly #cluster: Cluster;
  readonly #capacities: KnownCapacities;
  readonly #isClosed: () => boolean;

  constructor({ cluster, capacities }: Pick<StoreParts, "cluster" | "capacities">, isClosed: () => boolean) {
    this.#cluster = cluster;
    this.#capacities = capacities;
    this.#isClosed = isClosed;
  }

  async look(): Promise<StoreView> {
    this.#assertOpen();
    const { revision } = await this.#cluster.look([{ get: this.#cluster.layout.format }]);
    return new EtcdView(this.#cluster, revision);
  }

  rebuildIndexes(): Promise<RebuiltIndexes> {
    this.#assertOpen();
    return this.#capacities.changingAll(() => rebuildIndexes(this.#cluster));
  }

  explain(thrown: unknown): InfraError {
    return failureFrom("etcd.inspect", thrown);
  }

  #assertOpen(): void {
    if (this.#isClosed()) throw new CorruptStore(closedFailure("etcd.inspect"));
  }
}

/** A snapshot at a revision, which etcd must not compact meanwhile. */
class EtcdView implements StoreView {
  readonly countScopes = COUNT_SCOPES;
  readonly #cluster: Cluster;
  readonly #revision: bigint;

  constructor(cluster: Cluster, revision: bigint) {
    this.#cluster = cluster;
    this.#revision = revision;
  }

  async *runs(): AsyncGenerator<RunView> {
    const keys = await findKeys(this.#cluster, this.#revision);
    const removed = new Set(keys.unswept.values());
    for (const found of keys.runs) {
      const record = await this.#readRun(found, removed.has(pathOf(found.address)));
      const space = namedBy(found.head);
      const census = space === undefined ? undefined : await this.#readCensus(space);
      const statusCounts =
        space === undefined ? undefined : await readStatusCounts(this.#cluster, this.#revision, space);
      const isRegistered = record.kind !== "Found" || record.record.status !== "Initializing";
      yield new EtcdRunView(this.#cluster, this.#revision, {
        address: found.address,
        record,
        space,
        census,
        statusCounts,
        writtenUpTo: isRegistered ? undefined : found.head?.modRevision,
      });
    }
    for (const address of await findRunsOfNotes(this.#cluster, this.#revision)) {
      if (keys.runs.some((found) => pathOf(found.address) === pathOf(address))) continue;
      const record: StoredRunRecord = { kind: "Missing" };
      yield new EtcdRunView(this.#cluster, this.#revision, { address, record, space: undefined, census: undefined });
    }
    for (const space of await findOrphans(this.#cluster, this.#revision, keys)) {
      const address = await this.#addressIn(space);
      yield new EtcdRunView(this.#cluster, this.#revision, {
        address,
        record: { kind: "Missing" },
        space,
        census: undefined,
      });
    }
  }

  async *counts(): AsyncGenerator<StoredCount> {
    const { layout } = this.#cluster;
    const [total] = await this.#cluster.readAt(this.#revision, [layout.totalCount]);
    if (total !== undefined) yield { scope: "Total", tenant: undefined, run: undefined, count: storedCount(total) };
    for await (const page of this.#cluster.walk(this.#revision, layout.family("count/tenant"))) {
      for (const kv of page)
        yield {
          scope: "Tenant",
          tenant: kv.key.slice(kv.key.lastIndexOf("/") + 1) as TenantId,
          run: undefined,
          count: storedCount(kv),
        };
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #readRun({ address, head, hasRecord = false, mark }: FoundRun, isRemoved: boolean): Promise<StoredRunRecord> {
    const unreadable = (detail: string): StoredRunRecord => ({ kind: "Unreadable", detail });
    if (head === undefined && !hasRecord) {
      const decoded = decodeDeletedRun(mark!.value);
      return decoded.ok ? { kind: isRemoved ? "Removed" : "Deleted" } : unreadable(codecErrorInWords(decoded.error));
    }
    if (mark !== undefined) return unreadable("the run is there, and the mark of its removal too");
    const [kv] = await this.#cluster.readAt(this.#revision, [this.#cluster.layout.run(address)]);
    if (head?.modRevision !== kv?.modRevision) return unreadable("the record and its head were not written together");
    if (head!.value.length > 0 && namedBy(head) === undefined) return unreadable("the head does not name a space");
    const record = decodeRunRecord(kv!.value);
    return record.ok ? { kind: "Found", record: record.value } : unreadable(codecErrorInWords(record.error));
  }

  async #readCensus(space: Space): Promise<RunCensus | undefined> {
    const [kv] = await this.#cluster.readAt(this.#revision, [this.#cluster.layout.census(space)]);
    return readCensus(kv).census;
  }

  /** The run of a space, according to its first record. */
  async #addressIn(space: Space): Promise<RunAddress> {
    const { found } = await this.#cluster.look([
      { ...this.#cluster.layout.kind(space, ShardKind.Record), limit: 1, revision: this.#revision },
    ]);
    const first = found[0]!.kvs[0];
    const record = first && decodeShardRecord(first.value);
    return record?.ok === true ? record.value : UNKNOWN_RUN;
  }
}

/** A run before its shards are read. */
interface RunParts {
  readonly address: RunAddress;
  readonly record: StoredRunRecord;
  readonly space: Space | undefined;
  readonly census: RunCensus | undefined;
  readonly statusCounts?: StatusCounts | undefined;
  /** What was written later belongs to a page that is being staged, or was abandoned, and is no part of the run. */
  readonly writtenUpTo?: bigint | undefined;
}

class EtcdRunView implements RunView {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly record: StoredRunRecord;
  readonly census: RunCensus | undefined;
  readonly statusCounts: StatusCounts | undefined;
  readonly #cluster: Cluster;
  readonly #revision: bigint;
  readonly #space: Space | undefined;
  readonly #writtenUpTo: bigint | undefined;
  /** The keys of the current page whose own lookup differs from the listing. */
  #notFound: ReadonlySet<string> = new Set();

  constructor(cluster: Cluster, revision: bigint, { address, record, space, writtenUpTo, ...counts }: RunParts) {
    this.#cluster = cluster;
    this.#revision = revision;
    this.#space = space;
    this.#writtenUpTo = writtenUpTo;
    this.tenant = address.tenant;
    this.run = address.run;
    this.record = record;
    this.census = counts.census;
    this.statusCounts = counts.statusCounts;
  }

  async *shards(): AsyncGenerator<StoredShard> {
    if (this.#space === undefined) return;
    // Records can be large, and the whole response is held in memory.
    for await (const page of this.#cluster.walk(this.#revision, {
      ...this.#cluster.layout.kind(this.#space, ShardKind.Record),
      pageSize: 64,
    })) {
      await this.#lookUp(page);
      for (const { key, value } of page.filter((kv) => this.#isOwn(kv))) {
        const record = decodeShardRecord(value);
        yield { shard: shardOf(key), record: record.ok ? ok(record.value) : err(codecErrorInWords(record.error)) };
      }
    }
  }

  async *notes(): AsyncGenerator<Result<Note, string>> {
    const range = notesOfRun(this.#cluster.layout, this);
    for await (const page of this.#cluster.walk(this.#revision, { ...range, pageSize: 64 })) {
      for (const { key, value } of page) {
        const parsed = parseNoteKey(key);
        yield parsed === undefined ? err("its key does not name a note") : ok({ ...parsed, value });
      }
    }
  }

  async *entries(): AsyncGenerator<IndexEntry> {
    if (this.#space === undefined) return;
    for (const kind of INDEX_KINDS) {
      for await (const page of this.#cluster.walk(this.#revision, {
        ...this.#cluster.layout.kind(this.#space, kind),
        pageSize: 400,
      })) {
        await this.#lookUp(page);
        for (const kv of page.filter((each) => this.#isOwn(each))) yield indexEntryOf(this.#cluster.layout, kv);
      }
    }
  }

  entriesOf(record: ShardRecord): readonly IndexEntry[] {
    return this.#space === undefined ? [] : entriesOf(this.#cluster.layout, this.#space, record);
  }

  findShard(shard: ShardId): Promise<boolean> {
    return Promise.resolve(!this.#notFound.has(this.#cluster.layout.record(this.#space!, shard)));
  }

  findEntry({ key }: IndexEntry): Promise<boolean> {
    return Promise.resolve(!this.#notFound.has(key.slice(0, key.lastIndexOf("="))));
  }

  #isOwn({ modRevision }: KeyValue): boolean {
    return this.#writtenUpTo === undefined || modRevision <= this.#writtenUpTo;
  }

  /** Gets the keys of a page one by one, in as few requests as possible. */
  async #lookUp(page: readonly KeyValue[]): Promise<void> {
    const found = await this.#cluster.readAt(
      this.#revision,
      page.map(({ key }) => key),
    );
    const isSame = (kv: KeyValue, other: KeyValue | undefined): boolean =>
      other?.key === kv.key && other.modRevision === kv.modRevision && other.value.equals(kv.value);
    this.#notFound = new Set(page.filter((kv, index) => !isSame(kv, found[index])).map(({ key }) => key));
  }
}
