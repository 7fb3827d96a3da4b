import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore, Eventually, StoreTraits } from "../store/coordination-store.ts";
import type {
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  RunMoment,
} from "../store/store-reads.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";

/** A store that counts calls and passes them on to another store. */
export class StoreProbe implements CoordinationStore {
  readonly #inner: CoordinationStore;
  /** Present only if the inner store has it: callers check for it. */
  readonly readShardInto?: NonNullable<CoordinationStore["readShardInto"]>;
  /** Set it before a coordinator is created if `beforeNextCommit` is used later. */
  mayIntervene = false;
  /** How many calls have read something. */
  reads = 0;
  /** The sets of each call of `commit`. */
  readonly commits: (readonly WriteSet[])[] = [];
  /** Called once, before the next commit reaches the store: a write between a decision and its commit. */
  beforeNextCommit: (() => Promise<void>) | undefined;

  constructor(inner: CoordinationStore) {
    this.#inner = inner;
    if (inner.readShardInto !== undefined) {
      this.readShardInto = (tenant: TenantId, key: ShardKey, scratch: AcquireScratch) =>
        this.#count().readShardInto!(tenant, key, scratch);
    }
  }

  /** Resets the counts. */
  reset(): void {
    this.reads = 0;
    this.commits.length = 0;
  }

  get traits(): StoreTraits {
    // Another write can only come first if responses are promises.
    return { ...this.#inner.traits, answersAtOnce: this.#inner.traits?.answersAtOnce === true && !this.mayIntervene };
  }

  readRun(tenant: TenantId, run: RunId) {
    return this.#count().readRun(tenant, run);
  }

  readShard(tenant: TenantId, key: ShardKey) {
    return this.#count().readShard(tenant, key);
  }

  readHint(query: RunMoment) {
    return this.#count().readHint(query);
  }

  readProgress(query: RunMoment) {
    return this.#count().readProgress(query);
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    return this.#inner.markStarved(tenant, run, until);
  }

  listClaimCandidates(query: ClaimQuery) {
    return this.#count().listClaimCandidates(query);
  }

  listShards(query: ListShardsQuery) {
    return this.#count().listShards(query);
  }

  listRuns(query: ListRunsQuery) {
    return this.#count().listRuns(query);
  }

  listTenants(query: ListTenantsQuery) {
    return this.#count().listTenants(query);
  }

  listNotes(query: ListNotesQuery): ReturnType<CoordinationStore["listNotes"]> {
    return this.#count().listNotes(query);
  }

  countNotes(query: CountNotesQuery) {
    return this.#count().countNotes(query);
  }

  commit(sets: readonly WriteSet[]): Eventually<readonly CommitAnswer[]> {
    this.commits.push(sets);
    const intervene = this.beforeNextCommit;
    this.beforeNextCommit = undefined;
    return intervene === undefined ? this.#inner.commit(sets) : intervene().then(() => this.#inner.commit(sets));
  }

  #count(): CoordinationStore {
    this.reads++;
    return this.#inner;
  }
}
