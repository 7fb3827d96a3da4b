import type { GetRunError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { ItemFailure } from "../records/item-failure.ts";
import type { ParkedDetail } from "../records/parked-detail.ts";
import type { RunSettings } from "../records/run-settings.ts";
import type { ShardMarker } from "../records/shard-marker.ts";
import type { WorkerEntry } from "../records/worker-entry.ts";
import type { Page } from "../store/store-reads.ts";
import { assertCommand } from "./assert-command.ts";
import type { Engine } from "./engine.ts";
import * as budgets from "./budget-notes.ts";
import * as ledger from "./failure-ledger.ts";
import type { RunRequest, ShardRequest } from "./queries.ts";
import * as rollups from "./rollups.ts";
import * as settings from "./setting-notes.ts";
import * as registry from "./worker-notes.ts";

const OF_RUN = { run: true } as const;

/** The calls of a coordinator that read or write notes: failures, parked shards, workers, markers and settings. *Addition.* */
export class NoteCalls {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Most failures that one checkpoint or completion can record. */
  get maxFailuresPerCheckpoint(): number {
    return this.#engine.maxNotesPerSet;
  }

  /** The items that a run skipped, by key, a page at a time. */
  async listFailures(request: ledger.ListFailuresRequest): Promise<Result<Page<ItemFailure, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    return ledger.listFailures(this.#engine, request);
  }

  /** How many items a run skipped, or `limit` if there are more. */
  async countFailures(request: ledger.CountFailuresRequest): Promise<Result<number, GetRunError>> {
    assertCommand(request, { ...OF_RUN, maxLimit: ledger.MAX_COUNTED_FAILURES });
    return ledger.countFailures(this.#engine, request);
  }

  /** Remove items from the ledger, because they succeeded after all. */
  async resolveFailures(request: ledger.ResolveFailuresRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    return ledger.resolveFailures(this.#engine, request);
  }

  /** What went wrong with parked shards, by shard id, a page at a time. Not every parked shard has a detail. */
  async listParkedDetails(
    request: ledger.ListParkedDetailsRequest,
  ): Promise<Result<Page<ParkedDetail, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    return ledger.listParkedDetails(this.#engine, request);
  }

  /** What went wrong with one parked shard. */
  async getParkedDetail(request: ShardRequest): Promise<Result<ParkedDetail | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    return registry.getParkedDetail(this.#engine, request);
  }

  /** Enter a worker in the registry of a run, or renew its entry. Advisory. */
  async registerWorker(request: registry.RegisterWorkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    return registry.registerWorker(this.#engine, request);
  }

  /** Remove a worker that stops from the registry. Otherwise its entry expires. */
  async unregisterWorker(request: registry.WorkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    return registry.unregisterWorker(this.#engine, request);
  }

  /** The registered workers of a run, by id, a page at a time. */
  async listWorkers(request: registry.ListWorkersRequest): Promise<Result<Page<WorkerEntry, Uint8Array>, GetRunError>> {
    assertCommand(request, OF_RUN);
    return registry.listWorkers(this.#engine, request);
  }

  /** Note the item that the holder of a shard is about to process. Advisory: the lease is not checked. */
  async putMarker(request: registry.PutMarkerRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { lease: true });
    return registry.putMarker(this.#engine, request);
  }

  /** The marker of a shard, if there is one. */
  async getMarker(request: ShardRequest): Promise<Result<ShardMarker | undefined, GetRunError>> {
    assertCommand(request, { key: true });
    return registry.getMarker(this.#engine, request);
  }

  /** What operators have set for all workers of a run: whether it is paused, and its limits. */
  async getRunSettings(request: RunRequest): Promise<Result<RunSettings, GetRunError>> {
    assertCommand(request, OF_RUN);
    return settings.getRunSettings(this.#engine, request);
  }

  /** Pause or resume a run, or change its limits. Returns the settings after the change. Can be repeated. */
  async changeRunSettings(request: settings.ChangeRunSettingsRequest): Promise<Result<RunSettings, GetRunError>> {
    assertCommand(request, OF_RUN);
    return settings.changeRunSettings(this.#engine, request);
  }

  /** A document that the processes of a run share, if there is one of this name. */
  async getRollup(request: rollups.RollupRequest): Promise<Result<Uint8Array | undefined, GetRunError>> {
    assertCommand(request, OF_RUN);
    return rollups.getRollup(this.#engine, request);
  }

  /** Store a document for the processes of a run. */
  async putRollup(request: rollups.PutRollupRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    return rollups.putRollup(this.#engine, request);
  }

  /** Let no worker of a run start an item for a while, because a service that all of them use asked for a pause. */
  async holdRun(request: settings.HoldRunRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, OF_RUN);
    return settings.holdRun(this.#engine, request);
  }

  /** Renew the part of a run's limits that a worker has. Advisory: the coordinator does not count items itself. */
  async renewBudget(request: budgets.RenewBudgetRequest): Promise<Result<budgets.BudgetRenewal, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    return budgets.renewBudget(this.#engine, request);
  }

  /** Give back the part of a run's limits that a worker has. Otherwise it ends by itself. */
  async returnBudget(request: budgets.ReturnBudgetRequest): Promise<Result<void, GetRunError>> {
    assertCommand(request, { run: true, worker: true });
    return budgets.returnBudgetOf(this.#engine, request);
  }
}
