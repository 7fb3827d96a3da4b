import type { LogicalTime, RunId, ShardKey, TenantId, WorkerId } from "@gossip/contracts";
import type { CommitAnswer } from "../../store/commit-answer.ts";
import type { CoordinationStore, Eventually, StoreTraits } from "../../store/coordination-store.ts";
import type {
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  RunMoment,
} from "../../store/store-reads.ts";
import type { WriteSet } from "../../store/write-set.ts";

/** Is notified of every call of a store. */
export interface StoreListener {
  /** An actor has called the store. */
  noteCall(): void;
  /** A write of this actor was accepted. No other actor can know yet. */
  accept(actor: WorkerId, set: WriteSet): void;
}

/** A store as seen by one actor, so that a listener knows which actor wrote. */
export class ObservedStore implements CoordinationStore {
  readonly #inner: CoordinationStore;
  readonly #actor: WorkerId;
  readonly #listener: StoreListener;

  constructor(inner: CoordinationStore, actor: WorkerId, listener: StoreListener) {
    this.#inner = inner;
    this.#actor = actor;
    this.#listener = listener;
  }

  get traits(): StoreTraits {
    return this.#inner.traits ?? {};
  }

  readRun(tenant: TenantId, run: RunId) {
    return this.#called().readRun(tenant, run);
  }

  readShard(tenant: TenantId, key: ShardKey) {
    return this.#called().readShard(tenant, key);
  }

  readHint(query: RunMoment) {
    return this.#called().readHint(query);
  }

  readProgress(query: RunMoment) {
    return this.#called().readProgress(query);
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    return this.#called().markStarved(tenant, run, until);
  }

  listClaimCandidates(query: ClaimQuery) {
    return this.#called().listClaimCandidates(query);
  }

  listShards(query: ListShardsQuery) {
    return this.#called().listShards(query);
  }

  listRuns(query: ListRunsQuery) {
    return this.#called().listRuns(query);
  }

  listTenants(query: ListTenantsQuery) {
    return this.#called().listTenants(query);
  }

  listNotes(query: ListNotesQuery): ReturnType<CoordinationStore["listNotes"]> {
    return this.#called().listNotes(query);
  }

  countNotes(query: CountNotesQuery) {
    return this.#called().countNotes(query);
  }

  commit(sets: readonly WriteSet[]): Eventually<readonly CommitAnswer[]> {
    const answers = this.#called().commit(sets);
    // Synchronous if the store is, so that no other write precedes the report of this one.
    return "then" in answers ? answers.then((given) => this.#report(sets, given)) : this.#report(sets, answers);
  }

  #called(): CoordinationStore {
    this.#listener.noteCall();
    return this.#inner;
  }

  #report(sets: readonly WriteSet[], answers: readonly CommitAnswer[]): readonly CommitAnswer[] {
    for (const [index, answer] of answers.entries()) {
      if (answer.kind === "Committed") this.#listener.accept(this.#actor, sets[index]!);
    }
    return answers;
  }
}
