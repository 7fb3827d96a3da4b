import {
  Cursor,
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
  type ShardStatus,
} from "../../packages/contracts/src/index.ts";
import {
  newRunRecord,
  newShardRecord,
  ShardFilter,
  type CapacityHint,
  type CommitAnswer,
  type CoordinationStore,
  type RunRecord,
  type ShardPosition,
  type ShardRecord,
  type StoreVersion,
  type Versioned,
  type WriteSet,
} from "../../packages/coordination/src/index.ts";
import { unwrap } from "../../packages/stdx/src/index.ts";
import { listNotes } from "./store-state.ts";

export const TENANTS = [1, 2].map((byte) => TenantId.fromBytes(new Uint8Array(32).fill(byte)));
export const RUNS = [1n, 2n].map((raw) => RunId.fromRaw(raw));
const CONFIG = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;

export const derived = (id: bigint): ShardId => ShardId.fromRaw((1n << 63n) | id);

export function makeRun(tenant: TenantId, run: RunId, fields: Partial<RunRecord> = {}): RunRecord {
  const base = newRunRecord({ tenant, run, config: CONFIG, now: LogicalTime.fromRaw(1n) });
  return { ...base, status: "Active", rootShards: [ShardId.fromRaw(0n)], ...fields };
}

/** A shard whose range starts with its letter. */
export function makeShard(
  tenant: TenantId,
  run: RunId,
  shard: ShardId,
  start: string,
  fields: Partial<ShardRecord> = {},
): ShardRecord {
  const key = { run, shard };
  const spec = ShardSpec.withRangeAndMetadata({
    start: Buffer.from(start),
    end: Buffer.from("~"),
    metadata: Buffer.from(`m${shard}`),
  });
  const parent = ShardId.isDerived(shard) ? ShardId.fromRaw(0n) : undefined;
  const base = newShardRecord({
    tenant,
    key,
    spec,
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent,
    now: LogicalTime.fromRaw(1n),
  });
  return { ...base, ...fields };
}

/** What of a shard a test changes. */
export interface ShardChange {
  readonly status: ShardStatus;
  readonly deadline: bigint | undefined;
  readonly lastKey: string | undefined;
  readonly attempts: number;
}

/** The shard in another state that breaks no rule. */
export function changed(before: ShardRecord, { status, deadline, lastKey, attempts }: ShardChange): ShardRecord {
  const lease = { owner: WorkerId.fromRaw(3n), deadline: LogicalTime.fromRaw(deadline ?? 1n), opId: OpId.fromRaw(9n) };
  return {
    ...before,
    status,
    parkReason: status === "Parked" ? "Poisoned" : undefined,
    lease: status === "Active" && deadline !== undefined ? lease : undefined,
    spawned: status === "Split" ? [derived(77n)] : before.spawned,
    cursor:
      lastKey === undefined
        ? before.cursor
        : Cursor.fromParts({ lastKey: Buffer.from(lastKey), token: Buffer.from(`t${attempts}`) }),
    attempts,
    fenceEpoch: FenceEpoch.fromRaw(before.fenceEpoch + 1n),
  };
}

/** The answer to one write set, in a form that can be compared between stores. */
export interface PortAnswer {
  readonly outcome: { readonly kind: CommitAnswer["kind"]; readonly hint: boolean };
  /** The run that was written. */
  readonly of: string;
  readonly hint: CapacityHint | undefined;
}

/** A store, and every version of every record that it has ever given out. */
export class PortDriver {
  readonly store: CoordinationStore;
  readonly #shards = new Map<string, Versioned<ShardRecord>[]>();
  readonly #runs = new Map<string, Versioned<RunRecord>[]>();

  constructor(store: CoordinationStore) {
    this.store = store;
  }

  /** A shard as it was read, `age` reads that found it different ago. */
  async shard(tenant: TenantId, run: RunId, shard: ShardId, age: number): Promise<Versioned<ShardRecord> | undefined> {
    const seen = listAt(this.#shards, `${tenant} ${run} ${shard}`);
    remember(seen, unwrap(await this.store.readShard(tenant, { run, shard })).shard);
    return seen.at(-1 - age);
  }

  async run(tenant: TenantId, run: RunId, age: number): Promise<Versioned<RunRecord> | undefined> {
    const seen = listAt(this.#runs, `${tenant} ${run}`);
    const read = unwrap(await this.store.readRun(tenant, run));
    remember(seen, read.kind === "Found" ? read : undefined);
    return seen.at(-1 - age);
  }

  /** Commits sets. Leaves out the versions, which are each store's own, and hints, which are compared as advice. */
  async commit(sets: readonly WriteSet[]): Promise<readonly PortAnswer[]> {
    const answers = await this.store.commit(sets);
    return answers.map((answer, index) => {
      const { tenant, run } = sets[index]!;
      const hint = answer.kind === "Committed" ? answer.hint : undefined;
      return { outcome: { ...answer, version: undefined, hint: hint !== undefined }, of: nameOf(tenant, run), hint };
    });
  }

  /** The capacity of every run now. */
  async hints(now: LogicalTime): Promise<ReadonlyMap<string, CapacityHint>> {
    const hints = new Map<string, CapacityHint>();
    for (const tenant of TENANTS) {
      for (const run of RUNS) hints.set(nameOf(tenant, run), unwrap(await this.store.readHint({ tenant, run, now })));
    }
    return hints;
  }

  /** Everything that can be read at a time, in a form that can be compared. */
  async everything(now: LogicalTime): Promise<unknown> {
    const runs = [];
    for (const tenant of TENANTS) {
      for (const run of RUNS) {
        const read = unwrap(await this.store.readRun(tenant, run));
        const claims = unwrap(
          await this.store.listClaimCandidates({ tenant, run, now, limit: 100, spread: 0x8000_0000 }),
        );
        runs.push({
          read: { ...read, version: undefined },
          shards: await this.#listAll(tenant, run, now),
          progress: unwrap(await this.store.readProgress({ tenant, run, now })),
          hint: unwrap(await this.store.readHint({ tenant, run, now })),
          head: claims.run && { tenant, run, status: claims.run.record.status },
          candidates: claims.candidates.map(({ shard }) => shard).toSorted((a, b) => Number(a - b)),
          earliestDeadline: claims.earliestDeadline,
          notes: await listNotes(this.store, { tenant, run }),
        });
      }
    }
    return { runs, listed: await this.#listRuns(), tenants: [await this.#listTenants(1), await this.#listTenants(10)] };
  }

  async #listAll(tenant: TenantId, run: RunId, now: LogicalTime): Promise<ShardRecord[]> {
    const all: ShardRecord[] = [];
    let after: ShardPosition | undefined;
    do {
      const page = unwrap(await this.store.listShards({ tenant, run, after, limit: 2, filter: ShardFilter.ALL, now }));
      all.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return all;
  }

  async #listRuns(): Promise<RunRecord[]> {
    const all: RunRecord[] = [];
    for (const tenant of TENANTS) {
      let after: RunId | undefined;
      do {
        const page = unwrap(await this.store.listRuns({ tenant, after, limit: 1 }));
        all.push(...page.items);
        after = page.next;
      } while (after !== undefined);
    }
    return all;
  }

  async #listTenants(limit: number): Promise<TenantId[]> {
    const all: TenantId[] = [];
    let after: TenantId | undefined;
    do {
      const page = unwrap(await this.store.listTenants({ after, limit }));
      all.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return all;
  }
}

/** A guard that no store gives out. */
export const FOREIGN_GUARD: StoreVersion = "another store's";

function nameOf(tenant: TenantId, run: RunId): string {
  return `${tenant} ${run}`;
}

function listAt<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function remember<Item extends { readonly version: StoreVersion }>(seen: Item[], found: Item | undefined): void {
  if (found !== undefined && seen.at(-1)?.version !== found.version) seen.push(found);
}
