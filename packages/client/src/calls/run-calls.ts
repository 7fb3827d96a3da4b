import type { ShardId } from "@gossip/contracts";
import {
  RunConfig,
  type CompleteRunRequest,
  type CreateRunRequest,
  type CreateRunWithShardsRequest,
  type EndRunRequest,
  type RegisterShardsRequest,
  type RunRecord,
  type RunRequest,
  type UnparkRequest,
} from "@gossip/coordination";
import {
  coordError,
  type AnyCoordError,
  type CreateRunError,
  type DeleteRunError,
  type ErrorOf,
  type IdempotentOutcome,
  type RegisterShardsError,
  type UnparkError,
} from "@gossip/coordination-errors";
import { assertCommand, assertFlags } from "@gossip/coordination/internal";
import { readRun, writeConfig, writeCursor, writeId, writeRange } from "@gossip/protocol";
import { err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import type { OwnEvents } from "../events/own-events.ts";
import type { Caller } from "./caller.ts";
import { failed, value } from "./read-response.ts";
import { QueryCalls } from "./query-calls.ts";
import { lost } from "./read-error.ts";

const OF_RUN = { run: true } as const;
const LOGGED_OF_RUN = { run: true, opId: true } as const;

/** The calls of a client that create, end and remove runs. */
export class RunCalls extends QueryCalls {
  readonly #caller: Caller;
  readonly #events: OwnEvents;

  /** @internal */
  constructor(caller: Caller, events: OwnEvents) {
    super(caller);
    this.#caller = caller;
    this.#events = events;
  }

  /** There is no op id, so after a lost answer a run that exists may be another caller's: that is a backend error. */
  async createRun(request: CreateRunRequest): Promise<Result<RunRecord, ErrorOf<"createRun">>> {
    assertCommand(request, OF_RUN);
    const body = newRun(request);
    if (!body.ok) return body;
    const { result, wasRepeated } = await this.#caller.callOnce("createRun", { body: body.value });
    if (result.ok) {
      this.#events.created(request);
      return ok(value((read) => readRun(read, result.value.run)));
    }
    if (wasRepeated && result.error.kind === "RunAlreadyExists") return failed("createRun", lost(undefined));
    return failed("createRun", result.error);
  }

  async registerShards(
    request: RegisterShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord["rootShards"]>, RegisterShardsError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    assertFlags({ more: request.more });
    const { tenant, run, opId, shards, more = false } = request;
    const body = { tenant, opId: writeId(opId), shards: shards.map(writeNewShard), ...(more ? { more } : {}) };
    const got = await this.#caller.call("registerShards", { params: { run: writeId(run) }, body });
    if (!got.ok) return failed("registerShards", got.error);
    const { outcome, shards: ids } = got.value;
    if (outcome === "Executed" && !more && this.#events.isHeard)
      this.#events.activated(request, await this.#countShards(request, ids.length));
    return ok({ kind: outcome, value: value((read) => ids.map((id) => read.id<ShardId>(id))) });
  }

  /** The shards of a run that has just become active: earlier pages may have registered others than the last one. */
  async #countShards(request: RunRequest, lastPage: number): Promise<number> {
    try {
      const progress = await this.getRunProgress(request);
      return progress.ok ? Math.max(lastPage, progress.value.total) : lastPage;
    } catch (thrown) {
      if (thrown instanceof InvariantViolation) throw thrown;
      // The token may not read. The registration has succeeded nevertheless.
      return lastPage;
    }
  }

  async createRunWithShards(
    request: CreateRunWithShardsRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, CreateRunError>> {
    assertCommand(request, { run: true, shards: true, opId: true });
    const body = newRun(request);
    if (!body.ok) return body;
    const got = await this.#caller.call("createRun", {
      body: { ...body.value, opId: writeId(request.opId), shards: request.shards.map(writeNewShard) },
    });
    return this.#events.registered(readRunOutcome("createRunWithShards", got));
  }

  async completeRun(
    request: CompleteRunRequest,
  ): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"completeRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    assertFlags({ acceptParked: request.acceptParked, force: request.force });
    const { tenant, run, opId, acceptParked = false, force = false } = request;
    const body = { tenant, opId: writeId(opId), acceptParked, force };
    const got = await this.#caller.call("completeRun", { params: { run: writeId(run) }, body });
    return this.#events.ended("RunCompleted", readRunOutcome("completeRun", got));
  }

  async failRun(request: EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"failRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    const got = await this.#caller.call("failRun", ending(request));
    return this.#events.ended("RunFailed", readRunOutcome("failRun", got));
  }

  async cancelRun(request: EndRunRequest): Promise<Result<IdempotentOutcome<RunRecord>, ErrorOf<"cancelRun">>> {
    assertCommand(request, LOGGED_OF_RUN);
    const got = await this.#caller.call("cancelRun", ending(request));
    return this.#events.ended("RunCancelled", readRunOutcome("cancelRun", got));
  }

  async deleteRun(request: RunRequest): Promise<Result<void, DeleteRunError>> {
    assertCommand(request, OF_RUN);
    const { tenant, run } = request;
    const { result, wasRepeated } = await this.#caller.callOnce("deleteRun", {
      params: { run: writeId(run) },
      query: { tenant },
    });
    // Its id is never used again, so the first try removed it, or another caller did the same.
    if (!result.ok && !(wasRepeated && result.error.kind === "RunNotFound")) return failed("deleteRun", result.error);
    this.#events.deleted(request);
    return ok();
  }

  async unpark(request: UnparkRequest): Promise<Result<IdempotentOutcome<void>, UnparkError>> {
    assertCommand(request, { key: true, opId: true });
    const { tenant, key, opId } = request;
    const got = await this.#caller.call("unpark", {
      params: { run: writeId(key.run), shard: writeId(key.shard) },
      body: { tenant, opId: writeId(opId) },
    });
    return got.ok ? ok({ kind: got.value.outcome, value: undefined }) : failed("unpark", got.error);
  }
}

function newRun({ tenant, run, config }: CreateRunRequest) {
  const made = RunConfig.tryNew(config);
  if (!made.ok) return err(coordError("InvalidConfig", { reason: made.error }));
  return ok({ tenant, run: writeId(run), config: writeConfig(made.value) });
}

function writeNewShard({ shard, spec, cursor }: RegisterShardsRequest["shards"][number]) {
  return { shard: writeId(shard), range: writeRange(spec), cursor: writeCursor(cursor) };
}

function ending({ tenant, run, opId }: EndRunRequest) {
  return { params: { run: writeId(run) }, body: { tenant, opId: writeId(opId) } };
}

function readRunOutcome<Op extends "createRunWithShards" | "completeRun" | "failRun" | "cancelRun">(
  operation: Op,
  got: Result<
    { readonly run: Parameters<typeof readRun>[1]; readonly outcome?: "Executed" | "Replayed" },
    AnyCoordError
  >,
): Result<IdempotentOutcome<RunRecord>, ErrorOf<Op>> {
  if (!got.ok) return failed(operation, got.error);
  const { run, outcome = "Executed" } = got.value;
  return ok({ kind: outcome, value: value((read) => readRun(read, run)) });
}
