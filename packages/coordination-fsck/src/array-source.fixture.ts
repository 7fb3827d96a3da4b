import type { ShardId } from "@gossip/contracts";
import type { CoordinationStore, Note, RunRecord, ShardRecord } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { ok, unwrap, type Result } from "@gossip/stdx";
import type {
  CountScope,
  FsckSource,
  IndexEntry,
  RebuiltIndexes,
  RunView,
  StoredCount,
  StoredRunRecord,
  StoredShard,
  StoreView,
} from "./fsck-source.ts";
import { inspectThroughPort } from "./inspect-through-port.ts";
import { RunCensus } from "./run-census.ts";
import { StatusCounts } from "./status-counts.ts";

/** A run as it is stored, to be changed at will. */
export interface ArrayRun {
  readonly tenant: RunRecord["tenant"];
  readonly run: RunRecord["run"];
  record: StoredRunRecord;
  shards: StoredShard[];
  entries: IndexEntry[];
  census?: RunCensus | undefined;
  statusCounts?: StatusCounts | undefined;
  notes?: Result<Note, string>[];
  /** What is listed and cannot be looked up: ids of shards and keys of entries. */
  unfindable?: ReadonlySet<unknown>;
}

/** A store that is nothing but lists, and so can hold what no store would. It has one index, of what is active. */
export class ArraySource implements FsckSource {
  runs: ArrayRun[] = [];
  counts: StoredCount[] = [];
  countScopes = new Set<CountScope>(["Run", "Tenant", "Total"]);
  /** Thrown by the next look. */
  failure: unknown;

  /** What is in a store, as it would be stored. */
  static async of(store: CoordinationStore): Promise<ArraySource> {
    const source = new ArraySource();
    const view = await inspectThroughPort(store).look();
    for await (const run of view.runs()) {
      const shards: StoredShard[] = [];
      for await (const shard of run.shards()) shards.push(shard);
      const entries = shards.flatMap(({ record }) => entriesOf(unwrap(record)));
      const census = RunCensus.of(shards.map(({ shard }) => shard));
      source.runs.push({ tenant: run.tenant, run: run.run, record: run.record, shards, entries, census });
    }
    source.recount();
    return source;
  }

  /** Makes every count what the records say. */
  recount(): void {
    for (const run of this.runs)
      run.statusCounts = StatusCounts.of(run.shards.flatMap(({ record }) => (record.ok ? [record.value] : [])));
    const total = this.runs.reduce((sum, { shards }) => sum + shards.length, 0);
    this.counts = this.runs.map(({ tenant, run, shards }) => ({ scope: "Run", tenant, run, count: shards.length }));
    for (const tenant of new Set(this.runs.map((run) => run.tenant))) {
      const count = this.runs
        .filter((run) => run.tenant === tenant)
        .reduce((sum, { shards }) => sum + shards.length, 0);
      this.counts.push({ scope: "Tenant", tenant, run: undefined, count });
    }
    this.counts.push({ scope: "Total", tenant: undefined, run: undefined, count: total });
  }

  /** Change the record of one shard of the first run. */
  change(shard: ShardId, change: (record: ShardRecord) => Partial<ShardRecord>): void {
    const run = this.runs[0]!;
    run.shards = run.shards.map((stored) => {
      if (stored.shard !== shard || !stored.record.ok) return stored;
      return { shard, record: ok({ ...stored.record.value, ...change(stored.record.value) }) };
    });
  }

  async look(): Promise<StoreView> {
    if (this.failure !== undefined) throw this.failure;
    const { runs, counts, countScopes } = this;
    return {
      countScopes,
      async *runs() {
        for (const run of runs) yield viewOf(run);
      },
      async *counts() {
        yield* counts;
      },
      close: () => Promise.resolve(),
    };
  }

  rebuildIndexes(): Promise<RebuiltIndexes> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve({ removedEntries: 0, addedEntries: 0, correctedCounts: 0 });
  }

  explain(cause: unknown): InfraError {
    return InfraError.transient({ operation: "array.look", message: "an injected fault", cause });
  }
}

function viewOf({ record, shards, entries, notes = [], unfindable, ...rest }: ArrayRun): RunView {
  return {
    ...rest,
    record,
    findShard: (shard) => Promise.resolve(unfindable?.has(shard) !== true),
    findEntry: ({ key }) => Promise.resolve(unfindable?.has(key) !== true),
    entriesOf,
    async *shards() {
      yield* shards;
    },
    async *entries() {
      yield* entries;
    },
    async *notes() {
      yield* notes;
    },
  };
}

/** Two indexes: of what is active, and one in which adjacent shards share an entry. */
function entriesOf({ shard, status }: ShardRecord): IndexEntry[] {
  const shared = { index: "pair", shard: undefined, key: `pair ${shard / 2n}` };
  return status === "Active" ? [shared, { index: "active", shard, key: `active ${shard}` }] : [shared];
}
