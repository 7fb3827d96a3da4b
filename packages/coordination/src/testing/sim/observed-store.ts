import type { LogicalTime, RunId, ShardKey, TenantId, WorkerId } from "@gossip/contracts";
import type { CommitAnswer } from "../../store/commit-answer.ts";
import type { CoordinationStore, Eventually, StoreTraits } from "../../store/coordination-store.ts";
import type { ClaimQuery, ListRunsQuery, ListShardsQuery, ListTenantsQuery, RunMoment } from "../../store/store-reads.ts";
import type { WriteSet } from "../../store/write-set.ts";

/** Told of every write that was accepted, and whose it was, before anybody else is. */
export interface CommitListener {
  accept(actor: WorkerId, set: WriteSet): void;
}

/** A store as one actor reaches it, so that whoever listens knows who wrote. */
export class ObservedStore implements CoordinationStore {
  readonly #inner: CoordinationStore;
  readonly #actor: WorkerId;
  readonly #listener: CommitListener;

  constructor(inner: CoordinationStore, actor: WorkerId, listener: CommitListener) {
    this.#inner = inner;
    this.#actor = actor;
    this.#listener = listener;
  }

  get traits(): StoreTraits {
    return this.#inner.traits ?? {};
  }

  readRun(tenant: TenantId, run: RunId) {
    return this.#inner.readRun(tenant, run);
  }

  readShard(tenant: TenantId, key: ShardKey) {
    return this.#inner.readShard(tenant, key);
  }

  readHint(query: RunMoment) {
    return this.#inner.readHint(query);
  }

  readProgress(query: RunMoment) {
    return this.#inner.readProgress(query);
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    return this.#inner.markStarved(tenant, run, until);
  }

  listClaimCandidates(query: ClaimQuery) {
    return this.#inner.listClaimCandidates(query);
  }

  listShards(query: ListShardsQuery) {
    return this.#inner.listShards(query);
  }

  listRuns(query: ListRunsQuery) {
    return this.#inner.listRuns(query);
  }

  listTenants(query: ListTenantsQuery) {
    return this.#inner.listTenants(query);
  }

  commit(sets: readonly WriteSet[]): Eventually<readonly CommitAnswer[]> {
    const answers = this.#inner.commit(sets);
    // At once where the store answers at once: nobody's write can then come between a write and its being told.
    return "then" in answers ? answers.then((given) => this.#tell(sets, given)) : this.#tell(sets, answers);
  }

  #tell(sets: readonly WriteSet[], answers: readonly CommitAnswer[]): readonly CommitAnswer[] {
    for (const [index, answer] of answers.entries()) {
      if (answer.kind === "Committed") this.#listener.accept(this.#actor, sets[index]!);
    }
    return answers;
  }
}
