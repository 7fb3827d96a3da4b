// The shards of a store whose size must not matter: a run under way, one that is nearly finished, and one that has hardly
// begun.
import {
  Cursor,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "../../packages/contracts/src/index.ts";
import {
  newRunRecord,
  newShardRecord,
  type CoordinationStore,
  type ShardRecord,
  type StoreVersion,
  type WriteSet,
} from "../../packages/coordination/src/index.ts";
import { assert } from "../../packages/stdx/src/index.ts";

export const TENANT: TenantId = TenantId.fromBytes(new Uint8Array(32).fill(1));
/** Half of the shards: a third of them finished, a third held by others, a third free. */
export const OPEN_RUN: RunId = RunId.fromRaw(1n);
/** A quarter, of which all but `LIVE_SHARDS` are finished. */
export const HISTORY_RUN: RunId = RunId.fromRaw(2n);
/** The other quarter, of which none is finished and a tenth of `LIVE_SHARDS` are held. */
export const WAITING_RUN: RunId = RunId.fromRaw(3n);
export const LIVE_SHARDS = 200;

const CONFIG = { cursorSemantics: "Completed", leaseDuration: 1n << 40n, maxShardRetries: undefined } as const;
const CREATED_AT = LogicalTime.fromRaw(1n);
const LIMITS = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };
/** Leases that end within an hour, beginning in a week. */
const WEEK_MS = 604_800_000;
const HOUR_MS = 3_600_000;
const MAX_WRITES = 10;

/** Stores `size` shards, `perWrite` of them at a time, through the store's own write path. */
export async function fill(
  store: CoordinationStore,
  { size, perWrite }: { readonly size: number; readonly perWrite: number },
): Promise<void> {
  const half = size / 2;
  const laterMs = Date.now() + WEEK_MS;
  const leaseOf = (index: number) => LogicalTime.fromRaw(BigInt(laterMs + Math.floor((index / half) * HOUR_MS)));
  await fillRun(store, OPEN_RUN, { count: half, perWrite }, (record, index) => {
    if (index % 3 === 0) return { ...record, status: "Done" };
    return index % 3 === 1 ? record : held(record, leaseOf(index));
  });
  const quarter = size / 4;
  const stride = Math.floor(quarter / LIVE_SHARDS);
  const isLive = (index: number): boolean => index % stride === 0 && index / stride < LIVE_SHARDS;
  const heldInPlaces = (record: ShardRecord, index: number): ShardRecord =>
    isLive(index) && (index / stride) % 10 === 0 ? held(record, leaseOf(index)) : record;
  await fillRun(store, HISTORY_RUN, { count: quarter, perWrite }, (record, index) =>
    isLive(index) ? heldInPlaces(record, index) : { ...record, status: "Done" },
  );
  await fillRun(store, WAITING_RUN, { count: quarter, perWrite }, heldInPlaces);
}

/** The start of a shard's range, by its number. */
export function boundOf(index: number): Uint8Array {
  return new TextEncoder().encode(String(index).padStart(10, "0"));
}

async function fillRun(
  store: CoordinationStore,
  run: RunId,
  { count, perWrite }: { readonly count: number; readonly perWrite: number },
  asIn: (record: ShardRecord, index: number) => ShardRecord,
): Promise<void> {
  const after = {
    ...newRunRecord({ tenant: TENANT, run, config: CONFIG, now: CREATED_AT }),
    status: "Active",
    rootShards: [ShardId.fromRaw(0n)],
  } as const;
  let guard: StoreVersion | undefined;
  for (let first = 0; first < count; first += perWrite) {
    const created = Array.from({ length: Math.min(perWrite, count - first) }, (_, index) =>
      asIn(newShard(run, first + index), first + index),
    );
    guard = await write(store, {
      kind: "PutRun",
      tenant: TENANT,
      run,
      guard,
      after,
      created,
      limits: LIMITS,
      noShardsIn: [],
    });
  }
}

/** A busy machine may let a large write time out. */
async function write(store: CoordinationStore, set: WriteSet): Promise<StoreVersion> {
  for (let tries = 1; ; tries++) {
    const [answer] = await store.commit([set]);
    if (answer?.kind === "Committed") return answer.version;
    assert(answer?.kind === "Failed" && tries < MAX_WRITES, () => `the shards are stored, got ${answer?.kind}`);
  }
}

function newShard(run: RunId, index: number): ShardRecord {
  return newShardRecord({
    tenant: TENANT,
    key: { run, shard: ShardId.fromRaw(BigInt(index)) },
    spec: ShardSpec.withRange({ start: boundOf(index), end: boundOf(index + 1) }),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now: CREATED_AT,
  });
}

function held(record: ShardRecord, deadline: LogicalTime): ShardRecord {
  return { ...record, lease: { owner: WorkerId.fromRaw(2n), deadline, opId: OpId.fromRaw(1n) } };
}
