import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type {
  ClaimQuery,
  CoordinationStore,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  RunMoment,
  WriteSet,
} from "@gossip/coordination";

/** A store on the other side of a network: each call waits for `trip` first. */
export class DistantStore implements CoordinationStore {
  readonly traits = {};
  readonly #store: CoordinationStore;
  readonly #trip: (call: keyof CoordinationStore) => Promise<void>;

  constructor(store: CoordinationStore, trip: (call: keyof CoordinationStore) => Promise<void>) {
    this.#store = store;
    this.#trip = trip;
  }

  async readRun(tenant: TenantId, run: RunId) {
    await this.#trip("readRun");
    return this.#store.readRun(tenant, run);
  }

  async readShard(tenant: TenantId, key: ShardKey) {
    await this.#trip("readShard");
    return this.#store.readShard(tenant, key);
  }

  async readHint(query: RunMoment) {
    await this.#trip("readHint");
    return this.#store.readHint(query);
  }

  async readProgress(query: RunMoment) {
    await this.#trip("readProgress");
    return this.#store.readProgress(query);
  }

  async markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    await this.#trip("markStarved");
    return this.#store.markStarved(tenant, run, until);
  }

  async listClaimCandidates(query: ClaimQuery) {
    await this.#trip("listClaimCandidates");
    return this.#store.listClaimCandidates(query);
  }

  async listShards(query: ListShardsQuery) {
    await this.#trip("listShards");
    return this.#store.listShards(query);
  }

  async listRuns(query: ListRunsQuery) {
    await this.#trip("listRuns");
    return this.#store.listRuns(query);
  }

  async listTenants(query: ListTenantsQuery) {
    await this.#trip("listTenants");
    return this.#store.listTenants(query);
  }

  async listNotes(query: ListNotesQuery) {
    await this.#trip("listNotes");
    return this.#store.listNotes(query);
  }

  async countNotes(query: CountNotesQuery) {
    await this.#trip("countNotes");
    return this.#store.countNotes(query);
  }

  async commit(sets: readonly WriteSet[]) {
    await this.#trip("commit");
    return this.#store.commit(sets);
  }
}
