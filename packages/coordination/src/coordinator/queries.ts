import type { LogicalTime, RunId, ShardId, ShardKey, TenantId } from "@gossip/contracts";
import { coordError, type BackendError, type GetRunError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { findRun } from "../kernel/find-run.ts";
import { findShard, validateTenant } from "../kernel/find-shard.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { Page, ShardPosition } from "../store/store-reads.ts";
import { estimateProgress, type ProgressEstimate } from "../views/progress-estimate.ts";
import { RunProgress } from "../views/run-progress.ts";
import { ShardFilter } from "../views/shard-filter.ts";
import { summarizeShard, type ShardSummary } from "../views/shard-summary.ts";
import { MAX_PAGE_SIZE } from "./assert-command.ts";
import type { Attempts, Engine, OperationName } from "./engine.ts";

export interface RunRequest {
  readonly tenant: TenantId;
  readonly run: RunId;
}

export interface ShardRequest {
  readonly tenant: TenantId;
  readonly key: ShardKey;
}

export interface ListShardsRequest extends RunRequest {
  readonly filter?: ShardFilter;
  /** Maximum number of shards to return: 100 by default. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: ShardPosition | undefined;
}

export interface ListShardRecordsRequest extends ListShardsRequest {
  /** Whether the records come with their logs of operations. Default: true. */
  readonly withLog?: boolean;
}

export interface ListRunsRequest {
  readonly tenant: TenantId;
  readonly limit?: number;
  readonly after?: RunId | undefined;
}

export interface ListTenantsRequest {
  readonly limit?: number;
  readonly after?: TenantId | undefined;
}

/** What is known of a run id. */
export type RunLookup =
  | { readonly kind: "Found"; readonly record: RunRecord }
  | { readonly kind: "Deleted" }
  | { readonly kind: "Missing" };

/** The shards of a run that could be claimed. */
export interface ClaimCandidates {
  /** In ascending order. */
  readonly shards: readonly ShardId[];
  readonly earliestDeadline: LogicalTime | undefined;
}

const DEFAULT_PAGE_SIZE = 100;

/** A run, and the time of the read. */
interface FoundRun {
  readonly run: RunRecord;
  readonly now: LogicalTime;
}

export async function getRun(engine: Engine, request: RunRequest): Promise<Result<RunRecord, GetRunError>> {
  const { tenant, run } = request;
  const read = await engine.read(attempting("getRun"), () => engine.store.readRun(tenant, run));
  return read.ok ? findRun(read.value.kind === "Found" ? read.value.record : undefined, tenant) : read;
}

/** Whether a run exists, existed, or never did. The id of a deleted run cannot be used again. */
export async function lookUpRun(engine: Engine, request: RunRequest): Promise<Result<RunLookup, GetRunError>> {
  const { tenant, run } = request;
  const read = await engine.read(attempting("getRun"), () => engine.store.readRun(tenant, run));
  if (!read.ok) return read;
  if (read.value.kind !== "Found") return ok({ kind: read.value.kind });
  const found = findRun(read.value.record, tenant);
  return found.ok ? ok({ kind: "Found", record: found.value }) : found;
}

/** Returns the shard, or `undefined` if the run has no such shard. */
export async function getShard(
  engine: Engine,
  { tenant, key }: ShardRequest,
): Promise<Result<ShardRecord | undefined, GetRunError>> {
  const read = await engine.read(attempting("getRun"), () => engine.store.readShard(tenant, key));
  if (!read.ok) return read;
  const run = read.value.run?.record;
  if (run === undefined) return err(coordError("RunNotFound"));
  const own = validateTenant(run, tenant);
  if (!own.ok) return own;
  const found = findShard({ run, shard: read.value.shard?.record }, key);
  return ok(found.ok ? found.value.shard : undefined);
}

export async function getRunProgress(engine: Engine, request: RunRequest): Promise<Result<RunProgress, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  if (found.value.run.status === "Initializing") return ok(RunProgress.NONE);
  return engine.read(attempting("getRun"), () => engine.store.readProgress({ ...request, now: found.value.now }));
}

/** Returns how much of a run can be claimed: nothing if it has no shards yet. */
export async function getCapacity(engine: Engine, request: RunRequest): Promise<Result<CapacityHint, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  if (found.value.run.status === "Initializing") return ok(CapacityHint.ZERO);
  return engine.read(attempting("getRun"), () => engine.store.readHint({ ...request, now: found.value.now }));
}

export async function listShards(
  engine: Engine,
  request: ListShardsRequest,
): Promise<Result<Page<ShardSummary, ShardPosition>, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  const page = await readShards(engine, request, found.value);
  if (!page.ok) return page;
  const { items, next } = page.value;
  return ok({ items: items.map((record) => summarizeShard(record, found.value.now)), next });
}

/** As `listShards`, with everything that is stored about each shard. */
export async function listShardRecords(
  engine: Engine,
  request: ListShardRecordsRequest,
): Promise<Result<Page<ShardRecord, ShardPosition>, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  const page = await readShards(engine, request, found.value);
  if (!page.ok || request.withLog !== false) return page;
  return ok({ items: page.value.items.map((record) => ({ ...record, opLog: [] })), next: page.value.next });
}

/** Reads every shard of a run. */
export async function estimateRunProgress(
  engine: Engine,
  request: RunRequest,
): Promise<Result<ProgressEstimate, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  const all = await readAllShards(engine, { ...request, filter: ShardFilter.ALL }, found.value);
  return all.ok ? ok(estimateProgress(all.value.map((record) => summarizeShard(record, found.value.now)))) : all;
}

/** Lists every shard that could be claimed, whatever the state of the run. A claim reads only a few. */
export async function collectClaimCandidates(
  engine: Engine,
  request: RunRequest,
): Promise<Result<ClaimCandidates, GetRunError>> {
  const found = await openRun(engine, request);
  if (!found.ok) return found;
  const { now } = found.value;
  const all = await readAllShards(engine, { ...request, filter: ShardFilter.AVAILABLE }, found.value);
  if (!all.ok) return all;
  const hint = await engine.read(attempting("getRun"), () => engine.store.readHint({ ...request, now }));
  if (!hint.ok) return hint;
  const shards = all.value.map((record) => record.shard).sort((a, b) => (a < b ? -1 : 1));
  return ok({ shards, earliestDeadline: hint.value.earliestDeadline });
}

export function listRuns(
  engine: Engine,
  { tenant, limit = DEFAULT_PAGE_SIZE, after }: ListRunsRequest,
): Promise<Result<Page<RunRecord, RunId>, BackendError>> {
  return engine.read(attempting("list"), () => engine.store.listRuns({ tenant, limit, after }));
}

export function listTenants(
  engine: Engine,
  { limit = DEFAULT_PAGE_SIZE, after }: ListTenantsRequest,
): Promise<Result<Page<TenantId, TenantId>, BackendError>> {
  return engine.read(attempting("list"), () => engine.store.listTenants({ limit, after }));
}

async function openRun(engine: Engine, request: RunRequest): Promise<Result<FoundRun, GetRunError>> {
  const now = await engine.readClock("getRun");
  if (!now.ok) return now;
  const found = await getRun(engine, request);
  return found.ok ? ok({ run: found.value, now: now.value }) : found;
}

/** Returns a full page of matching items, however much of the list that takes. */
async function readShards(
  engine: Engine,
  { tenant, run, filter = ShardFilter.ALL, limit = DEFAULT_PAGE_SIZE, after }: ListShardsRequest,
  found: FoundRun,
): Promise<Result<Page<ShardRecord, ShardPosition>, BackendError>> {
  // A registration in progress has staged shards that are not part of the list yet.
  if (found.run.status === "Initializing") return ok({ items: [], next: undefined });
  const items: ShardRecord[] = [];
  let position = after;
  do {
    const query = { tenant, run, filter, limit: limit - items.length, after: position, now: found.now };
    const page = await engine.read(attempting("list"), () => engine.store.listShards(query));
    if (!page.ok) return page;
    items.push(...page.value.items.filter((record) => ShardFilter.matches(filter, record, found.now)));
    position = page.value.next;
  } while (position !== undefined && items.length < limit);
  return ok({ items, next: position });
}

async function readAllShards(
  engine: Engine,
  request: ListShardsRequest,
  found: FoundRun,
): Promise<Result<readonly ShardRecord[], BackendError>> {
  const all: ShardRecord[] = [];
  let after: ShardPosition | undefined;
  do {
    const page = await readShards(engine, { ...request, limit: MAX_PAGE_SIZE, after }, found);
    if (!page.ok) return page;
    all.push(...page.value.items);
    after = page.value.next;
  } while (after !== undefined);
  return ok(all);
}

function attempting(operation: OperationName): Attempts {
  return { operation, count: 0 };
}
