import { RunId, type ShardId, type TenantId } from "@gossip/contracts";
import type {
  CapacityHint,
  ClaimCandidates,
  ListRunsRequest,
  ListShardRecordsRequest,
  ListShardsRequest,
  ListTenantsRequest,
  Page,
  ProgressEstimate,
  RunLookup,
  RunProgress,
  RunRecord,
  RunRequest,
  ShardPosition,
  ShardRecord,
  ShardRequest,
  ShardSummary,
} from "@gossip/coordination";
import type { BackendError, GetRunError } from "@gossip/coordination-errors";
import { assertCommand, assertFlags, assertListing } from "@gossip/coordination/internal";
import {
  optionalTime,
  readCapacity,
  readPosition,
  readProgress,
  readRun,
  readShard,
  readSummary,
  writeId,
  writePosition,
} from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import type { Caller } from "./caller.ts";
import { failed, value } from "./read-response.ts";
import { listEverywhere, mergePages } from "./merged-lists.ts";
import { NoteCalls } from "./note-calls.ts";

const OF_RUN = { run: true } as const;
const WITH_LOG = { log: "true" } as const;

/** The calls of a client that only read. */
export class QueryCalls extends NoteCalls {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    super(caller);
    this.#caller = caller;
  }

  async getRun(request: RunRequest): Promise<Result<RunRecord, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, run } = request;
    const got = await this.#caller.call("getRun", { params: { run: writeId(run) }, query: { tenant, ...WITH_LOG } });
    return got.ok ? ok(value((read) => readRun(read, got.value.run))) : failed("getRun", got.error);
  }

  async lookUpRun(request: RunRequest): Promise<Result<RunLookup, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("lookUpRun", querying(request));
    if (!got.ok) return failed("getRun", got.error);
    const { run, isDeleted } = got.value;
    if (run === undefined) return ok({ kind: isDeleted === true ? "Deleted" : "Missing" });
    return ok({ kind: "Found", record: value((read) => readRun(read, run)) });
  }

  async getShard(request: ShardRequest): Promise<Result<ShardRecord | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    const { tenant, key } = request;
    const got = await this.#caller.call("getShard", {
      params: { run: writeId(key.run), shard: writeId(key.shard) },
      query: { tenant, ...WITH_LOG },
    });
    if (!got.ok) return failed("getRun", got.error);
    const { shard } = got.value;
    return ok(shard && value((read) => readShard(read, shard)));
  }

  async getRunProgress(request: RunRequest): Promise<Result<RunProgress, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("getProgress", querying(request));
    return got.ok ? ok(value((read) => readProgress(read, got.value.progress))) : failed("getRun", got.error);
  }

  async getCapacity(request: RunRequest): Promise<Result<CapacityHint, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("getCapacity", querying(request));
    return got.ok ? ok(value((read) => readCapacity(read, got.value.capacity))) : failed("getRun", got.error);
  }

  async estimateProgress(request: RunRequest): Promise<Result<ProgressEstimate, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("estimateProgress", querying(request));
    if (!got.ok) return failed("getRun", got.error);
    const { fraction, shardCount } = got.value;
    return ok({ fraction, shardCount });
  }

  async listShards(request: ListShardsRequest): Promise<Result<Page<ShardSummary, ShardPosition>, GetRunError>> {
    assertCommand(request, OF_RUN);
    assertListing(request);
    const got = await this.#caller.call("listShards", listing(request));
    if (!got.ok) return failed("getRun", got.error);
    const { shards, next } = got.value;
    return ok({ items: value((read) => shards.map((shard) => readSummary(read, shard))), next: nextOf(next) });
  }

  async listShardRecords(
    request: ListShardRecordsRequest,
  ): Promise<Result<Page<ShardRecord, ShardPosition>, GetRunError>> {
    assertCommand(request, OF_RUN);
    assertListing(request);
    assertFlags({ withLog: request.withLog });
    const { params, query } = listing(request);
    const log = flag(request.withLog !== false);
    const got = await this.#caller.call("listShardRecords", { params, query: { ...query, log } });
    if (!got.ok) return failed("getRun", got.error);
    const { shards, next } = got.value;
    return ok({ items: value((read) => shards.map((shard) => readShard(read, shard))), next: nextOf(next) });
  }

  async collectClaimCandidates(request: RunRequest): Promise<Result<ClaimCandidates, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("listCandidates", querying(request));
    if (!got.ok) return failed("getRun", got.error);
    const { shards, earliestDeadline } = got.value;
    return ok(
      value((read) => ({
        shards: shards.map((id) => read.id<ShardId>(id)),
        earliestDeadline: optionalTime(read, earliestDeadline),
      })),
    );
  }

  async listRuns(request: ListRunsRequest): Promise<Result<Page<RunRecord, RunId>, BackendError>> {
    assertCommand(request, {});
    const { tenant, limit, after } = request;
    if (after !== undefined) RunId.fromRaw(after);
    const lists = await listEverywhere(this.#caller, "listRuns", {
      query: {
        tenant,
        ...(limit === undefined ? {} : { limit: String(limit) }),
        ...(after === undefined ? {} : { after: writeId(after) }),
      },
    });
    if (!lists.ok) return err(lists.error as BackendError);
    const pages = lists.value.map(({ runs, next }) => ({ items: runs, next }));
    const { items, next } = mergePages(pages, { idOf: ({ run }) => run, limit });
    return ok({
      items: value((read) => items.map((run) => readRun(read, run))),
      next: next === undefined ? undefined : value((read) => read.id<RunId>(next)),
    });
  }

  async listTenants(request: ListTenantsRequest = {}): Promise<Result<Page<TenantId, TenantId>, BackendError>> {
    assertCommand(request, { tenant: false });
    const { limit, after } = request;
    const lists = await listEverywhere(this.#caller, "listTenants", {
      query: { ...(limit === undefined ? {} : { limit: String(limit) }), ...(after === undefined ? {} : { after }) },
    });
    if (!lists.ok) return err(lists.error as BackendError);
    const pages = lists.value.map(({ tenants, next }) => ({ items: tenants, next }));
    const { items, next } = mergePages(pages, { idOf: (tenant) => tenant, limit });
    return ok({ items: items as TenantId[], next: next as TenantId | undefined });
  }
}

function querying({ tenant, run }: RunRequest) {
  return { params: { run: writeId(run) }, query: { tenant } };
}

function listing({ tenant, run, filter = {}, limit, after }: ListShardsRequest) {
  const { status, isLeased, rootOnly } = filter;
  return {
    params: { run: writeId(run) },
    query: {
      tenant,
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(after === undefined ? {} : { after: writePosition(after) }),
      ...(status === undefined ? {} : { status }),
      ...(isLeased === undefined ? {} : { isLeased: flag(isLeased) }),
      ...(rootOnly === undefined ? {} : { rootOnly: flag(rootOnly) }),
    },
  };
}

function nextOf(next: string | undefined): ShardPosition | undefined {
  return next === undefined ? undefined : readPosition(next);
}

function flag(isSet: boolean): "true" | "false" {
  return isSet ? "true" : "false";
}
