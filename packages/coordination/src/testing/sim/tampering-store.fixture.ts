import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import type { RunHead, RunRecord } from "../../records/run-record.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { CommitAnswer } from "../../store/commit-answer.ts";
import type { CoordinationStore, StoreAnswer } from "../../store/coordination-store.ts";
import type {
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Page,
  RunMoment,
  RunRead,
  ShardPosition,
  ShardRead,
} from "../../store/store-reads.ts";
import type { WriteSet } from "../../store/write-set.ts";
import type { RunProgress } from "../../views/run-progress.ts";

/** Where a store can be made to lie. */
export interface Tampering {
  /** What is written instead of a set. */
  readonly onCommit?: (set: WriteSet) => WriteSet;
  /** What is read instead of a shard. */
  readonly onReadShard?: (shard: ShardRecord) => ShardRecord;
  /** What is read instead of a shard's run. */
  readonly onReadShardRun?: (run: RunHead) => RunHead;
  readonly onReadProgress?: (progress: RunProgress) => RunProgress;
  readonly onReadRun?: (run: RunRecord) => RunRecord;
  /** What is listed instead of a page's shards. */
  readonly onList?: (shards: readonly ShardRecord[]) => readonly ShardRecord[];
  /** Write even where a guard does not hold. */
  readonly ignoresGuards?: boolean;
}

/**
 * A store with one planted bug, as a faulty kernel or store would have it, so
 * that the checks can be shown to find it. Only lists are tampered with below the checks.
 */
export class TamperingStore implements CoordinationStore {
  readonly #inner: CoordinationStore;
  readonly #tampering: Tampering;

  constructor(inner: CoordinationStore, tampering: Tampering) {
    this.#inner = inner;
    this.#tampering = tampering;
  }

  async readRun(tenant: TenantId, run: RunId): Promise<Awaited<StoreAnswer<RunRead>>> {
    const read = await this.#inner.readRun(tenant, run);
    if (!read.ok || read.value.kind !== "Found") return read;
    return ok({ ...read.value, record: this.#tampering.onReadRun?.(read.value.record) ?? read.value.record });
  }

  async readShard(tenant: TenantId, key: ShardKey): Promise<Awaited<StoreAnswer<ShardRead>>> {
    const read = await this.#inner.readShard(tenant, key);
    if (!read.ok || read.value.shard === undefined || read.value.run === undefined) return read;
    const { shard, run } = read.value;
    const { onReadShard = (record) => record, onReadShardRun = (record) => record } = this.#tampering;
    return ok({
      run: { ...run, record: onReadShardRun(run.record) },
      shard: { ...shard, record: onReadShard(shard.record) },
    });
  }

  readHint(query: RunMoment) {
    return this.#inner.readHint(query);
  }

  async readProgress(query: RunMoment): Promise<Awaited<StoreAnswer<RunProgress>>> {
    const progress = await this.#inner.readProgress(query);
    return progress.ok ? ok(this.#tampering.onReadProgress?.(progress.value) ?? progress.value) : progress;
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    return this.#inner.markStarved(tenant, run, until);
  }

  listClaimCandidates(query: ClaimQuery) {
    return this.#inner.listClaimCandidates(query);
  }

  async listShards(query: ListShardsQuery): Promise<Awaited<StoreAnswer<Page<ShardRecord, ShardPosition>>>> {
    const page = await this.#inner.listShards(query);
    return page.ok
      ? ok({ ...page.value, items: this.#tampering.onList?.(page.value.items) ?? page.value.items })
      : page;
  }

  listRuns(query: ListRunsQuery) {
    return this.#inner.listRuns(query);
  }

  listTenants(query: ListTenantsQuery) {
    return this.#inner.listTenants(query);
  }

  listNotes(query: ListNotesQuery) {
    return this.#inner.listNotes(query);
  }

  countNotes(query: CountNotesQuery) {
    return this.#inner.countNotes(query);
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const rewritten: WriteSet[] = [];
    for (const set of sets) rewritten.push(await this.#rewrite(set));
    return this.#inner.commit(rewritten);
  }

  async #rewrite(set: WriteSet): Promise<WriteSet> {
    const written = this.#tampering.onCommit?.(set) ?? set;
    if (this.#tampering.ignoresGuards !== true || written.kind !== "UpdateShard") return written;
    const current = await this.#inner.readShard(written.tenant, { run: written.run, shard: written.shard.after.shard });
    const stored = current.ok ? current.value.shard : undefined;
    return stored === undefined
      ? written
      : { ...written, runGuard: undefined, shard: { ...written.shard, guard: stored.version } };
  }
}
