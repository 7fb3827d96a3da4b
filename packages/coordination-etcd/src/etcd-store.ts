import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type {
  CapacityHint,
  ClaimListing,
  ClaimQuery,
  CommitAnswer,
  CoordinationStore,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Note,
  Page,
  RunMoment,
  RunProgress,
  RunRead,
  RunRecord,
  ServerTime,
  ShardPosition,
  ShardRead,
  ShardRecord,
  StoreTraits,
  WriteSet,
} from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { Result } from "@gossip/stdx";
import { assertClaimQuery, assertPageQuery, StoreLifecycle } from "@gossip/store-kit";
import { readHint } from "./capacity/capacity.ts";
import { listClaimCandidates } from "./claim/claims.ts";
import type { Cluster } from "./cluster/cluster.ts";
import { Committer } from "./write/committer.ts";
import { EtcdFailure, failureFrom } from "./cluster/etcd-failure.ts";
import { EtcdInspection } from "./inspect/etcd-inspection.ts";
import { KnownCapacities } from "./capacity/known-capacities.ts";
import { pathOf } from "./layout/layout.ts";
import { listRuns, listShards, listTenants, type ListingParts } from "./read/listing.ts";
import { OrderWindows } from "./read/order-windows.ts";
import { markStarved } from "./capacity/mark-starved.ts";
import { countNotes, listNotes } from "./read/notes.ts";
import { readProgress } from "./read/progress.ts";
import { runVersion } from "./layout/record-version.ts";
import { decodeRun, readShardAt, RunHeads } from "./read/run-heads.ts";
import type { StoreParts } from "./store-parts.ts";
import { Sweeper } from "./write/sweep.ts";
import { maxSplitChildren } from "./cluster/txn-budget.ts";
import { maxNotesPerSet } from "./write/write-notes.ts";
import { maxUpdatesPerTxn } from "./write/update-shards.ts";
import { KnownWindows } from "./claim/windows.ts";

/**
 * Records in an etcd cluster, for the processes of many machines. Open one with `openEtcdStore`.
 *
 * Every read is consistent. Shard updates passed in one call form one transaction, in which each has its own conditions
 * and its own result. A write returns once a majority of the members has it on disk.
 */
export class EtcdStore implements CoordinationStore, AsyncDisposable {
  readonly traits: StoreTraits;

  readonly #cluster: Cluster;
  readonly #heads: RunHeads;
  readonly #parts: StoreParts;
  readonly #listing: ListingParts;
  readonly #sweeper: Sweeper;
  readonly #committer: Committer;
  readonly #lifecycle: StoreLifecycle<"etcd">;

  /** @internal */
  constructor(cluster: Cluster, monotonicMs: () => number = () => performance.now()) {
    const { maxTxnOps } = cluster;
    // A transaction costs one round trip and one flush however many updates it carries. Two in flight keep etcd busy
    // while this process works.
    this.traits = Object.freeze({
      maxSplitChildren: maxSplitChildren(maxTxnOps),
      maxSetsPerCommit: maxUpdatesPerTxn(maxTxnOps),
      commitsInFlight: 2,
      maxNotesPerSet: maxNotesPerSet(maxTxnOps),
    });
    this.#cluster = cluster;
    this.#heads = new RunHeads(cluster);
    this.#sweeper = new Sweeper(cluster);
    this.#parts = {
      cluster,
      heads: this.#heads,
      windows: new KnownWindows(),
      capacities: new KnownCapacities(monotonicMs),
    };
    this.#listing = { cluster, heads: this.#heads, windows: new OrderWindows() };
    this.#committer = new Committer(this.#parts, this.#sweeper);
    const release = () => cluster.client.close();
    this.#lifecycle = new StoreLifecycle({ name: "etcd", failureFrom, release, sweeper: this.#sweeper });
    this.#sweeper.start();
  }

  /** The `Date` header of a response: whole seconds. */
  readServerTime(): Promise<Result<ServerTime | undefined, InfraError>> {
    return this.#lifecycle.call("etcd.readServerTime", async () => {
      const { client, layout } = this.#cluster;
      const date = await client.readDate(layout.format);
      if (!date.ok) throw EtcdFailure.harmless(date.error);
      return date.value && { atMs: date.value.getTime(), precisionMs: 1000 };
    });
  }

  readRun(tenant: TenantId, run: RunId): Promise<Result<RunRead, InfraError>> {
    const address = { tenant, run };
    return this.#lifecycle.call("etcd.readRun", async (): Promise<RunRead> => {
      const { layout } = this.#cluster;
      const { found } = await this.#cluster.look([
        { get: layout.run(address) },
        { get: layout.deleted(address), keysOnly: true },
      ]);
      const [record, deleted] = [found[0]!.kvs[0], found[1]!.kvs[0]];
      if (record !== undefined)
        return { kind: "Found", record: decodeRun(address, record), version: runVersion(record.modRevision) };
      return { kind: deleted === undefined ? "Missing" : "Deleted" };
    });
  }

  readShard(tenant: TenantId, { run, shard }: ShardKey): Promise<Result<ShardRead, InfraError>> {
    const address = { tenant, run };
    return this.#lifecycle.call("etcd.readShard", async (): Promise<ShardRead> => {
      const look = await this.#heads.lookWith(address, (space) =>
        space === undefined ? [] : [{ get: this.#cluster.layout.record(space, shard) }],
      );
      if (look === undefined) return { run: undefined, shard: undefined };
      const kv = look.found[0]?.kvs[0];
      return { run: look.run.head, shard: kv && readShardAt(address, look.run.space!, kv) };
    });
  }

  readHint(moment: RunMoment): Promise<Result<CapacityHint, InfraError>> {
    return this.#lifecycle.call("etcd.readHint", () => readHint(this.#parts, moment));
  }

  /** Cost grows with the number of shards, and with the number that are started and unfinished. */
  readProgress(moment: RunMoment): Promise<Result<RunProgress, InfraError>> {
    return this.#lifecycle.call("etcd.readProgress", () => readProgress(this.#cluster, this.#heads, moment));
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): Promise<Result<void, InfraError>> {
    const mark = { tenant, run, until };
    return this.#lifecycle.call("etcd.markStarved", () =>
      this.#parts.capacities.changing([pathOf(mark)], () => markStarved(this.#cluster, mark)),
    );
  }

  listClaimCandidates(query: ClaimQuery): Promise<Result<ClaimListing, InfraError>> {
    assertClaimQuery(query);
    return this.#lifecycle.call("etcd.listClaimCandidates", () => listClaimCandidates(this.#parts, query));
  }

  listShards(query: ListShardsQuery): Promise<Result<Page<ShardRecord, ShardPosition>, InfraError>> {
    assertPageQuery(query);
    return this.#lifecycle.call("etcd.listShards", () => listShards(this.#listing, query));
  }

  listRuns(query: ListRunsQuery): Promise<Result<Page<RunRecord, RunId>, InfraError>> {
    assertPageQuery(query);
    return this.#lifecycle.call("etcd.listRuns", () => listRuns(this.#cluster, query));
  }

  listTenants(query: ListTenantsQuery): Promise<Result<Page<TenantId, TenantId>, InfraError>> {
    assertPageQuery(query);
    return this.#lifecycle.call("etcd.listTenants", () => listTenants(this.#cluster, query));
  }

  listNotes(query: ListNotesQuery): Promise<Result<Page<Note, Uint8Array>, InfraError>> {
    assertPageQuery(query);
    return this.#lifecycle.call("etcd.listNotes", () => listNotes(this.#cluster, query));
  }

  countNotes(query: CountNotesQuery): Promise<Result<number, InfraError>> {
    assertPageQuery(query);
    return this.#lifecycle.call("etcd.countNotes", () => countNotes(this.#cluster, query));
  }

  commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    return this.#lifecycle.commit(sets, () => this.#committer.commit(sets));
  }

  /** For `fsck` and `repair`. Reads everything at one revision, which etcd must not compact meanwhile. */
  inspect(): FsckSource {
    return new EtcdInspection(this.#parts, () => this.#lifecycle.isClosing);
  }

  /** Resolves when the keys of removed runs are deleted, or etcd is unreachable. */
  async swept(): Promise<void> {
    await this.#sweeper.idle;
  }

  /** Waits for pending calls and closes the connections. Later calls fail. */
  close(): Promise<void> {
    return this.#lifecycle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
