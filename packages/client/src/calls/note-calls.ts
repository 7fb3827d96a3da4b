import { RunId, ShardId, WorkerId, type ShardKey } from "@gossip/contracts";
import {
  MAX_COUNTED_FAILURES,
  type BudgetRenewal,
  type ChangeRunSettingsRequest,
  type CountFailuresRequest,
  type HoldRunRequest,
  type ItemFailure,
  type ListFailuresRequest,
  type ListParkedDetailsRequest,
  type ListWorkersRequest,
  type Page,
  type ParkedDetail,
  type PutMarkerRequest,
  type PutRollupRequest,
  type RegisterWorkerRequest,
  type RenewBudgetRequest,
  type ResolveFailuresRequest,
  type ReturnBudgetRequest,
  type RollupRequest,
  type RunRequest,
  type RunSettings,
  type RunSettingsChange,
  type ShardMarker,
  type ShardRequest,
  type WorkerEntry,
  type WorkerRequest,
} from "@gossip/coordination";
import { assertBudgetClaim, assertCommand, assertSettingsChange, isRollupName } from "@gossip/coordination/internal";
import type { GetRunError } from "@gossip/coordination-errors";
import {
  decodeBase64Url,
  encodeBase64Url,
  MAX_FAILURES,
  readFailure,
  readGrant,
  readMarker,
  readParked,
  readSettings,
  readWorker,
  writeId,
  writeKey,
  writeWorkerInfo,
} from "@gossip/protocol";
import { assert, assertBytes, ok, type Result } from "@gossip/stdx";
import type { Caller } from "./caller.ts";
import { present } from "./write-element.ts";
import { failed, value } from "./read-response.ts";

const OF_RUN = { run: true } as const;

/** The calls of a client about failures, parked shards, workers, markers, settings, budgets and shared documents. */
export class NoteCalls {
  readonly #caller: Caller;
  #maxFailures = MAX_FAILURES;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Most failures that one checkpoint or completion can record, as far as the server has said. */
  get maxFailuresPerCheckpoint(): number {
    return this.#maxFailures;
  }

  /** @internal The store of the server may take fewer than the protocol: a session says so. */
  protected learnMaxFailures({ maxFailures }: { readonly maxFailures?: number }): void {
    if (maxFailures !== undefined) this.#maxFailures = Math.min(this.#maxFailures, maxFailures);
  }

  async listFailures(request: ListFailuresRequest): Promise<Result<Page<ItemFailure, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { range } = request;
    const bounds =
      range === undefined ? {} : { start64: encodeBase64Url(range.start), end64: encodeBase64Url(range.end) };
    const got = await this.#caller.call("listFailures", {
      params: paramsOf(request),
      query: { ...pageQuery(request), ...bounds },
    });
    if (!got.ok) return failed("getRun", got.error);
    const { failures, next } = got.value;
    return ok({ items: value((read) => failures.map((failure) => readFailure(read, failure))), next: bytesOf(next) });
  }

  async countFailures(request: CountFailuresRequest): Promise<Result<number, GetRunError>> {
    assertCommand(request, { ...OF_RUN, maxLimit: MAX_COUNTED_FAILURES });
    const got = await this.#caller.call("countFailures", { params: paramsOf(request), query: pageQuery(request) });
    return got.ok ? ok(got.value.count) : failed("getRun", got.error);
  }

  async resolveFailures(request: ResolveFailuresRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, keys } = request;
    assert(Array.isArray(keys), () => `keys must come in an array, got ${typeof keys}`);
    for (let from = 0; from < keys.length || from === 0; from += MAX_KEYS) {
      const body = { tenant, keys: keys.slice(from, from + MAX_KEYS).map(writeKey) };
      const got = await this.#caller.call("resolveFailures", { params: paramsOf(request), body });
      if (!got.ok) return failed("getRun", got.error);
    }
    return ok();
  }

  async listParkedDetails(
    request: ListParkedDetailsRequest,
  ): Promise<Result<Page<ParkedDetail, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("listParked", { params: paramsOf(request), query: pageQuery(request) });
    if (!got.ok) return failed("getRun", got.error);
    const { parked, next } = got.value;
    return ok({ items: value((read) => parked.map((detail) => readParked(read, detail))), next: bytesOf(next) });
  }

  async getParkedDetail(request: ShardRequest): Promise<Result<ParkedDetail | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    const { tenant, key } = request;
    const got = await this.#caller.call("getParked", { params: shardParams(key), query: { tenant } });
    if (!got.ok) return failed("getRun", got.error);
    const { parked } = got.value;
    return ok(parked && value((read) => readParked(read, parked)));
  }

  async registerWorker(request: RegisterWorkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    const { tenant, info, ttl } = request;
    const got = await this.#caller.call("registerWorker", {
      params: workerParams(request),
      body: { tenant, ...writeWorkerInfo(info), ttlMs: ttl.toString() },
    });
    return got.ok ? ok() : failed("getRun", got.error);
  }

  async unregisterWorker(request: WorkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    const { tenant } = request;
    const got = await this.#caller.call("unregisterWorker", { params: workerParams(request), query: { tenant } });
    return got.ok ? ok() : failed("getRun", got.error);
  }

  async listWorkers(request: ListWorkersRequest): Promise<Result<Page<WorkerEntry, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    const got = await this.#caller.call("listWorkers", { params: paramsOf(request), query: pageQuery(request) });
    if (!got.ok) return failed("getRun", got.error);
    const { workers, next } = got.value;
    return ok({ items: value((read) => workers.map((entry) => readWorker(read, entry))), next: bytesOf(next) });
  }

  async putMarker(request: PutMarkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { lease: true });
    const { tenant, lease, item } = request;
    const got = await this.#caller.call("putMarker", { body: { lease: present(tenant, lease), ...writeKey(item) } });
    return got.ok ? ok() : failed("getRun", got.error);
  }

  async getMarker(request: ShardRequest): Promise<Result<ShardMarker | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    const { tenant, key } = request;
    const got = await this.#caller.call("getMarker", { params: shardParams(key), query: { tenant } });
    if (!got.ok) return failed("getRun", got.error);
    const { marker } = got.value;
    return ok(marker && value((read) => readMarker(read, marker, key.shard)));
  }

  async getRunSettings(request: RunRequest): Promise<Result<RunSettings, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant } = request;
    const got = await this.#caller.call("getRunSettings", { params: paramsOf(request), query: { tenant } });
    return got.ok ? ok(value((read) => readSettings(read, got.value.settings))) : failed("getRun", got.error);
  }

  async changeRunSettings(request: ChangeRunSettingsRequest): Promise<Result<RunSettings, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, change } = request;
    assertSettingsChange(change);
    const got = await this.#caller.call("changeRunSettings", {
      params: paramsOf(request),
      body: { tenant, ...given(change) },
    });
    return got.ok ? ok(value((read) => readSettings(read, got.value.settings))) : failed("getRun", got.error);
  }

  async getRollup(request: RollupRequest): Promise<Result<Uint8Array | undefined, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant } = request;
    const got = await this.#caller.call("getRollup", { params: rollupParams(request), query: { tenant } });
    return got.ok ? ok(bytesOf(got.value.value64)) : failed("getRun", got.error);
  }

  async putRollup(request: PutRollupRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, value: document } = request;
    if (document !== undefined) assertBytes(document, "value of a rollup");
    const body = { tenant, ...(document === undefined ? {} : { value64: encodeBase64Url(document) }) };
    const got = await this.#caller.call("putRollup", { params: rollupParams(request), body });
    return got.ok ? ok() : failed("getRun", got.error);
  }

  async renewBudget(request: RenewBudgetRequest): Promise<Result<BudgetRenewal, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    assertBudgetClaim(request);
    const { tenant, held, returned, wanted, slots, slotsWanted, ttl } = request;
    const got = await this.#caller.call("renewBudget", {
      params: workerParams(request),
      body: { tenant, held, returned, wanted, slots, slotsWanted, ttlMs: ttl.toString() },
    });
    if (!got.ok) return failed("getRun", got.error);
    const { settings, grant } = got.value;
    return ok({ settings: value((read) => readSettings(read, settings)), grant: grant && readGrant(grant) });
  }

  async returnBudget(request: ReturnBudgetRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    const { tenant, returned } = request;
    const got = await this.#caller.call("returnBudget", { params: workerParams(request), body: { tenant, returned } });
    return got.ok ? ok() : failed("getRun", got.error);
  }

  async holdRun(request: HoldRunRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, ms } = request;
    const got = await this.#caller.call("holdRun", { params: paramsOf(request), body: { tenant, ms } });
    return got.ok ? ok() : failed("getRun", got.error);
  }
}

/** The most keys of one request. */
const MAX_KEYS = 10_000;

function paramsOf({ run }: RunRequest) {
  return { run: writeId(RunId.fromRaw(run)) };
}

function shardParams({ run, shard }: ShardKey) {
  return { run: writeId(run), shard: writeId(ShardId.fromRaw(shard)) };
}

function workerParams({ run, worker }: WorkerRequest) {
  return { run: writeId(run), worker: writeId(WorkerId.fromRaw(worker)) };
}

function rollupParams({ run, name }: RollupRequest) {
  assert(isRollupName(name), "name of a rollup must be up to 64 lower-case letters, digits and hyphens");
  return { run: writeId(run), name };
}

function pageQuery({
  tenant,
  limit,
  after,
}: RunRequest & { readonly limit?: number; readonly after?: Uint8Array | undefined }) {
  return {
    tenant,
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(after === undefined ? {} : { after: encodeBase64Url(after) }),
  };
}

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : decodeBase64Url(text);
}

/** The settings that a change names, without those that are `undefined`. */
function given({ paused, itemsPerSecond, concurrency }: RunSettingsChange) {
  return {
    ...(paused === undefined ? {} : { paused }),
    ...(itemsPerSecond === undefined ? {} : { itemsPerSecond }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
}
