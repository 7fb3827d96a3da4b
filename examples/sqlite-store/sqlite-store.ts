import type { LogicalTime, RunId, ShardKey, TenantId } from "@gossip/contracts";
import type {
  ClaimListing,
  ClaimQuery,
  CommitAnswer,
  CoordinationStore,
  CountNotesQuery,
  ListNotesQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  RunMoment,
  RunRead,
  ShardRead,
  StoreTraits,
  WriteSet,
} from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { assertClaimQuery, assertPageQuery, StoreLifecycle } from "@gossip/store-kit";
import { earliestDeadline, listClaimable, markStarved, readHint } from "./claims.ts";
import { commit } from "./commit.ts";
import { listRuns, listShards, listTenants, readProgress } from "./lists.ts";
import { countNotes, listNotes } from "./notes.ts";
import { decodeRunRow, readHead, readShard, runRow } from "./records.ts";
import { failureFrom } from "./sqlite-failure.ts";
import { SqliteFile } from "./sqlite-file.ts";

export interface SqliteStoreOptions {
  readonly path: string;
  /** When a write is answered: after it reached the disk, or (for tests) after the operating system has it. */
  readonly durability?: "Flushed" | "Written";
}

/** Opens a store, and creates the file if there is none. One process at a time can have it open. */
export function openSqliteStore({ path, durability }: SqliteStoreOptions): Result<SqliteStore, InfraError> {
  try {
    return ok(new SqliteStore(new SqliteFile(path, { synchronous: durability === "Written" ? "OFF" : "FULL" })));
  } catch (thrown) {
    return err(failureFrom("sqlite.open", thrown));
  }
}

/** Records in one SQLite file, for one process. */
export class SqliteStore implements CoordinationStore, AsyncDisposable {
  /** A transaction costs one flush for any number of sets, so `commit` returns a promise and takes many at a time. */
  readonly traits: StoreTraits = Object.freeze({ maxSetsPerCommit: 256, commitsInFlight: 1 });
  readonly #file: SqliteFile;
  readonly #lifecycle: StoreLifecycle<"sqlite">;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#lifecycle = new StoreLifecycle({ name: "sqlite", failureFrom, release: () => file.close() });
  }

  readRun(tenant: TenantId, run: RunId) {
    return this.#lifecycle.read("sqlite.readRun", (): RunRead => {
      const row = runRow(this.#file, { tenant, run });
      if (row === undefined) return { kind: "Missing" };
      if (row["record"] === null) return { kind: "Deleted" };
      return { kind: "Found", record: decodeRunRow(row), version: row["version"] as number };
    });
  }

  readShard(tenant: TenantId, { run, shard }: ShardKey) {
    return this.#lifecycle.read("sqlite.readShard", (): ShardRead => {
      const head = readHead(this.#file, { tenant, run });
      return { run: head, shard: head && readShard(this.#file, { tenant, run }, shard) };
    });
  }

  readHint(moment: RunMoment) {
    return this.#lifecycle.read("sqlite.readHint", () => readHint(this.#file, moment));
  }

  readProgress(moment: RunMoment) {
    return this.#lifecycle.read("sqlite.readProgress", () => readProgress(this.#file, moment));
  }

  markStarved(tenant: TenantId, run: RunId, until: LogicalTime) {
    return this.#lifecycle.read("sqlite.markStarved", () => markStarved(this.#file, { tenant, run }, until));
  }

  listClaimCandidates(query: ClaimQuery) {
    assertClaimQuery(query);
    return this.#lifecycle.read("sqlite.listClaimCandidates", (): ClaimListing => {
      const run = readHead(this.#file, query);
      if (run === undefined) return { run, candidates: [], earliestDeadline: undefined };
      const candidates = listClaimable(this.#file, query).map((shard) => ({ shard }));
      return { run, candidates, earliestDeadline: earliestDeadline(this.#file, query) };
    });
  }

  listShards(query: ListShardsQuery) {
    assertPageQuery(query);
    return this.#lifecycle.read("sqlite.listShards", () => listShards(this.#file, query));
  }

  listRuns(query: ListRunsQuery) {
    assertPageQuery(query);
    return this.#lifecycle.read("sqlite.listRuns", () => listRuns(this.#file, query));
  }

  listTenants(query: ListTenantsQuery) {
    assertPageQuery(query);
    return this.#lifecycle.read("sqlite.listTenants", () => listTenants(this.#file, query));
  }

  listNotes(query: ListNotesQuery) {
    assertPageQuery(query);
    return this.#lifecycle.read("sqlite.listNotes", () => listNotes(this.#file, query));
  }

  countNotes(query: CountNotesQuery) {
    assertPageQuery(query);
    return this.#lifecycle.read("sqlite.countNotes", () => countNotes(this.#file, query));
  }

  commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    return this.#lifecycle.commit(sets, async () => commit(this.#file, sets));
  }

  /** Waits for pending writes and closes the file. */
  close(): Promise<void> {
    return this.#lifecycle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
