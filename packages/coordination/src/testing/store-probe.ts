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

/** A store that counts what is asked of it, and otherwise is the one that it stands before. */
export class StoreProbe implements CoordinationStore {
  readonly #inner: CoordinationStore;
  /** Present only where the store has it, as callers look for it. */
  readonly readShardInto?: NonNullable<CoordinationStore["readShardInto"]>;
  /** Set before a coordinator is made over it, where `beforeNextCommit` is to be used. */
  mayIntervene = false;
  /** How many calls have read something. */
  reads = 0;
  /** The sets of each call of `commit`. */
  readonly commits: (readonly WriteSet[])[] = [];
  /** Done once, before the next commit reaches the store: what comes between a decision and its write. */
  beforeNextCommit: (() => Promise<void>) | undefined;

  constructor(inner: CoordinationStore) {
    this.#inner = inner;
    if (inner.readShardInto !== undefined) {
      this.readShardInto = (tenant: TenantId, key: ShardKey, scratch: AcquireScratch) =>
        this.#count().readShardInto!(tenant, key, scratch);
    }
  }

  /** Count from zero again. */
  reset(): void {
    this.reads = 0;
    this.commits.length = 0;
  }

  get traits(): StoreTraits {
    // With something to come between, an answer takes its time.
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

  listNotes(query: ListNotesQuery) {
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
