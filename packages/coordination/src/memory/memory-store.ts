import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, assertCount, MAX_SLAB_CAPACITY, ok, type Result } from "@gossip/stdx";
import { CapacityHint } from "../records/capacity-hint.ts";
import type { Note } from "../records/note.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type {
  ClaimListing,
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListPositionsQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Page,
  RunMoment,
  RunRead,
  ShardPosition,
  ShardRead,
} from "../store/store-reads.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";
import { RunProgress } from "../views/run-progress.ts";
import { MemoryCommit } from "./memory-commit.ts";
import type { RunShelf } from "./run-shelf.ts";
import { ShardBytes } from "./shard-bytes.ts";
import { DELETED, type TenantShelf } from "./tenant-shelf.ts";

export interface MemoryStoreOptions {
  /** Bytes for keys, tokens and metadata of all shards together. 64 MiB by default. */
  readonly slabCapacity?: number;
}

const DEFAULT_SLAB_CAPACITY = 64 * 1024 * 1024;

/**
 * Records in the memory of this process. They are lost when it ends.
 *
 * For tests, for work that need not survive, and as the reference for every other store. It answers at once, and fails
 * only if its slab is full; a write that does not fit changes nothing. Keys, tokens and metadata of shards live in one
 * slab of a fixed size. Notes live on the heap.
 */
export class MemoryStore implements CoordinationStore {
  readonly traits = { answersAtOnce: true } as const;
  readonly #bytes: ShardBytes;
  readonly #tenants = new Map<TenantId, TenantShelf>();
  readonly #commit: MemoryCommit;

  constructor(options: MemoryStoreOptions = {}) {
    assert(
      typeof options === "object" && options !== null,
      () => `memory store options must be an object, got ${typeof options}`,
    );
    const { slabCapacity = DEFAULT_SLAB_CAPACITY } = options;
    assertCount(slabCapacity, "slab capacity", { min: 0, max: MAX_SLAB_CAPACITY });
    this.#bytes = new ShardBytes(slabCapacity);
    this.#commit = new MemoryCommit(this.#tenants, this.#bytes);
  }

  /** Bytes of the slab that are in use, rounding included. */
  get slabBytesUsed(): number {
    return this.#bytes.liveBytes;
  }

  /** Shards that exist. */
  get shardCount(): number {
    return this.#commit.shardCount;
  }

  readRun(tenant: TenantId, run: RunId): Result<RunRead, InfraError> {
    const shelf = this.#tenants.get(tenant)?.runs.get(run);
    if (shelf === undefined) return ok({ kind: "Missing" });
    if (shelf === DELETED) return ok({ kind: "Deleted" });
    return ok({ kind: "Found", record: shelf.run, version: shelf.version });
  }

  readShard(tenant: TenantId, key: ShardKey): Result<ShardRead, InfraError> {
    const shelf = this.#shelf(tenant, key.run);
    if (shelf === undefined) return ok({ run: undefined, shard: undefined });
    const row = shelf.row(key.shard);
    return ok({ run: { record: shelf.run, version: shelf.version }, shard: row && shelf.read(row) });
  }

  readShardInto(tenant: TenantId, key: ShardKey, scratch: AcquireScratch): Result<ShardRead, InfraError> {
    const shelf = this.#shelf(tenant, key.run);
    if (shelf === undefined) return ok({ run: undefined, shard: undefined });
    const row = shelf.row(key.shard);
    return ok({ run: { record: shelf.run, version: shelf.version }, shard: row && shelf.readInto(row, scratch) });
  }

  readHint({ tenant, run, now }: RunMoment): Result<CapacityHint, InfraError> {
    return ok(this.#shelf(tenant, run)?.claims.hint(now) ?? CapacityHint.ZERO);
  }

  readProgress({ tenant, run, now }: RunMoment): Result<RunProgress, InfraError> {
    return ok(this.#shelf(tenant, run)?.progress(now) ?? RunProgress.NONE);
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): Result<void, InfraError> {
    this.#shelf(tenant, run)?.claims.markStarved(until);
    return ok();
  }

  listClaimCandidates(query: ClaimQuery): Result<ClaimListing, InfraError> {
    const shelf = this.#shelf(query.tenant, query.run);
    if (shelf === undefined) return ok({ run: undefined, candidates: [], earliestDeadline: undefined });
    return ok({
      run: { record: shelf.run, version: shelf.version },
      candidates: shelf.claims.candidates(query.now, query).map((row) => ({ shard: row.shard })),
      earliestDeadline: shelf.claims.earliestDeadline(query.now),
    });
  }

  listShards(query: ListShardsQuery): Result<Page<ShardRecord, ShardPosition>, InfraError> {
    return ok(this.#shelf(query.tenant, query.run)?.list(query) ?? { items: [], next: undefined });
  }

  listShardPositions(query: ListPositionsQuery): Result<Page<ShardPosition, ShardPosition>, InfraError> {
    return ok(this.#shelf(query.tenant, query.run)?.listPositions(query) ?? { items: [], next: undefined });
  }

  listRuns({ tenant, after, limit }: ListRunsQuery): Result<Page<RunRecord, RunId>, InfraError> {
    const shelves = [...(this.#tenants.get(tenant)?.runs ?? [])].flatMap(([, shelf]) =>
      shelf === DELETED ? [] : [shelf.run],
    );
    return ok(pageOf(shelves, { keyOf: (run) => run.run, after, limit }));
  }

  listTenants({ after, limit }: ListTenantsQuery): Result<Page<TenantId, TenantId>, InfraError> {
    const tenants = [...this.#tenants].flatMap(([tenant, { runs }]) => (hasRun(runs) ? [tenant] : []));
    return ok(pageOf(tenants, { keyOf: (tenant) => tenant, after, limit }));
  }

  listNotes(query: ListNotesQuery): Result<Page<Note, Uint8Array>, InfraError> {
    return ok(this.#shelf(query.tenant, query.run)?.notes.list(query) ?? { items: [], next: undefined });
  }

  countNotes({ tenant, run, space, limit }: CountNotesQuery): Result<number, InfraError> {
    return ok(this.#shelf(tenant, run)?.notes.count(space, limit) ?? 0);
  }

  commit(sets: readonly WriteSet[]): readonly CommitAnswer[] {
    return sets.map((set) => this.#commit.apply(set));
  }

  #shelf(tenant: TenantId, run: RunId): RunShelf | undefined {
    const shelf = this.#tenants.get(tenant)?.runs.get(run);
    return shelf === DELETED ? undefined : shelf;
  }
}

function hasRun(runs: TenantShelf["runs"]): boolean {
  for (const shelf of runs.values()) if (shelf !== DELETED) return true;
  return false;
}

function pageOf<Item, Key extends bigint | string>(
  all: Item[],
  {
    keyOf,
    after,
    limit,
  }: { readonly keyOf: (item: Item) => Key; readonly after: Key | undefined; readonly limit: number },
): Page<Item, Key> {
  const rest = all.filter((item) => after === undefined || keyOf(item) > after);
  rest.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const items = rest.slice(0, limit);
  return { items, next: items.length < rest.length ? keyOf(items.at(-1)!) : undefined };
}
