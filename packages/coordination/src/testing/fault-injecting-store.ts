import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import { InfraError } from "@gossip/coordination-errors";
import { err, type Result } from "@gossip/stdx";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { Note } from "../records/note.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore, Eventually, StoreAnswer, StoreTraits } from "../store/coordination-store.ts";
import type {
  ClaimListing,
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
} from "../store/store-reads.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { RunProgress } from "../views/run-progress.ts";

/** The reads of a store. */
export type StoreRead = Exclude<keyof CoordinationStore, "traits" | "commit" | "markStarved" | "readShardInto">;

/**
 * How a read can go wrong.
 *
 * - `Failed` — the store cannot be reached.
 * - `Stale`  — the result of the last read with the same parameters is returned again, whatever was written since. A
 *   store must not do this, but a coordinator must stay safe if one does. The first read is answered correctly.
 */
export type ReadFault = "Failed" | "Stale";

/**
 * How a commit can go wrong.
 *
 * - `Conflict`       — it is refused, as if another writer had been faster.
 * - `Failed`         — it is not made, and the caller knows.
 * - `UnknownNotMade` — the connection is lost before it is made.
 * - `UnknownMade`    — it is made, and the response is lost.
 * - `UnknownLate`    — the connection is lost, and it is made only after the next commit.
 */
export type CommitFault = "Conflict" | "Failed" | "UnknownNotMade" | "UnknownMade" | "UnknownLate";

/** Decides which calls fail. `undefined` means no fault. */
export interface FaultSource {
  onRead?(read: StoreRead): ReadFault | undefined;
  onCommit?(set: WriteSet): CommitFault | undefined;
  /** Awaited before each call reaches the store, and again before its response: a slow connection. */
  delay?(moment: "Request" | "Response"): Promise<void> | undefined;
}

/**
 * Wraps a store and injects faults.
 *
 * It can do whatever a network and a server can do to a caller, at the moment that a test chooses.
 */
export class FaultInjectingStore implements CoordinationStore {
  readonly #inner: CoordinationStore;
  readonly #faults: FaultSource;
  readonly #answered = new Map<string, Result<unknown, InfraError>>();
  #late: WriteSet[] = [];

  constructor(inner: CoordinationStore, faults: FaultSource) {
    this.#inner = inner;
    this.#faults = faults;
  }

  get traits(): StoreTraits {
    return { ...this.#inner.traits, answersAtOnce: false };
  }

  readRun(tenant: TenantId, run: RunId): StoreAnswer<RunRead> {
    return this.#read("readRun", `${tenant}/${run}`, () => this.#inner.readRun(tenant, run));
  }

  readShard(tenant: TenantId, key: ShardKey): StoreAnswer<ShardRead> {
    return this.#read("readShard", `${tenant}/${key.run}/${key.shard}`, () => this.#inner.readShard(tenant, key));
  }

  readHint(query: RunMoment): StoreAnswer<CapacityHint> {
    return this.#read("readHint", nameRun(query), () => this.#inner.readHint(query));
  }

  readProgress(query: RunMoment): StoreAnswer<RunProgress> {
    return this.#read("readProgress", nameRun(query), () => this.#inner.readProgress(query));
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime): StoreAnswer<void> {
    return this.#inner.markStarved(tenant, run, until);
  }

  listClaimCandidates(query: ClaimQuery): StoreAnswer<ClaimListing> {
    return this.#read("listClaimCandidates", nameRun(query), () => this.#inner.listClaimCandidates(query));
  }

  listShards(query: ListShardsQuery): StoreAnswer<Page<ShardRecord, ShardPosition>> {
    return this.#read("listShards", `${nameRun(query)}/${query.after?.shard}/${query.limit}`, () =>
      this.#inner.listShards(query),
    );
  }

  listRuns(query: ListRunsQuery): StoreAnswer<Page<RunRecord, RunId>> {
    return this.#read("listRuns", `${query.tenant}/${query.after}/${query.limit}`, () => this.#inner.listRuns(query));
  }

  listTenants(query: ListTenantsQuery): StoreAnswer<Page<TenantId, TenantId>> {
    return this.#read("listTenants", `${query.after}/${query.limit}`, () => this.#inner.listTenants(query));
  }

  listNotes(query: ListNotesQuery): StoreAnswer<Page<Note, Uint8Array>> {
    const subject = `${nameRun(query)}/${query.space}/${query.start.join()}/${query.limit}`;
    return this.#read("listNotes", subject, () => this.#inner.listNotes(query));
  }

  countNotes(query: CountNotesQuery): StoreAnswer<number> {
    return this.#read("countNotes", `${nameRun(query)}/${query.space}`, () => this.#inner.countNotes(query));
  }

  async commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    const answers: CommitAnswer[] = [];
    const late = this.#late;
    this.#late = [];
    await this.#faults.delay?.("Request");
    for (const set of sets) answers.push(await this.#commitOne(set));
    for (const set of late) await this.#inner.commit([set]);
    await this.#faults.delay?.("Response");
    return answers;
  }

  async #commitOne(set: WriteSet): Promise<CommitAnswer> {
    const fault = this.#faults.onCommit?.(set);
    switch (fault) {
      case undefined:
        return (await this.#inner.commit([set]))[0]!;
      case "Conflict":
        return { kind: "Conflict" };
      case "Failed":
        return { kind: "Failed", error: lost("commit") };
      case "UnknownMade":
        await this.#inner.commit([set]);
        return { kind: "Unknown", error: lost("commit") };
      case "UnknownLate":
        this.#late.push(set);
        return { kind: "Unknown", error: lost("commit") };
      case "UnknownNotMade":
        return { kind: "Unknown", error: lost("commit") };
    }
  }

  async #read<T>(
    read: StoreRead,
    subject: string,
    ask: () => Eventually<Result<T, InfraError>>,
  ): Promise<Result<T, InfraError>> {
    await this.#faults.delay?.("Request");
    const name = `${read}/${subject}`;
    const fault = this.#faults.onRead?.(read);
    if (fault === "Failed") return err(lost("read"));
    const earlier = this.#answered.get(name) as Result<T, InfraError> | undefined;
    const answer = fault === "Stale" && earlier !== undefined ? earlier : await ask();
    this.#answered.set(name, answer);
    await this.#faults.delay?.("Response");
    return answer;
  }
}

function nameRun({ tenant, run }: { readonly tenant: TenantId; readonly run: RunId }): string {
  return `${tenant}/${run}`;
}

function lost(call: "read" | "commit"): InfraError {
  return InfraError.transient({ operation: `store.${call}`, message: "the connection was lost: an injected fault" });
}
