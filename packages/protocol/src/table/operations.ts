import type { Operation as ErrorOperation } from "@gossip/coordination-errors";
import type { TSchema } from "typebox";
import * as notes from "../schema/notes.ts";
import * as wire from "../schema/requests.ts";
import * as scopes from "../schema/scopes.ts";
import { CONSOLE_OPERATIONS } from "./console-operations.ts";
import type { Role } from "./role.ts";

/** How the elements of a batched call are executed when the server is busy: held leases come first. */
export type Priority = "held" | "new";

interface CommonSpec {
  readonly path: string;
  readonly summary: string;
  readonly role: Role;
  readonly response: TSchema;
  /** The rows of `ERROR_ROUTES` that its errors come from. */
  readonly errors: readonly ErrorOperation[];
}

/** A call that takes `elements` and returns one result or error for each. */
export interface BatchSpec extends CommonSpec {
  readonly shape: "batch";
  readonly method: "POST";
  readonly element: TSchema;
  readonly priority: Priority;
}

export interface CallSpec extends CommonSpec {
  readonly shape: "call";
  readonly method: "GET" | "POST" | "DELETE";
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Written to the audit log. */
  readonly isAudited?: boolean;
  /**
   * The column of its body that has an item for each operation on a held lease. They are counted and given priority
   * like the elements of a batched call.
   */
  readonly column?: string;
}

/** A response that does not end: server-sent events, or lines of JSON. */
export interface StreamSpec extends CommonSpec {
  readonly shape: "stream";
  readonly method: "GET";
  readonly query?: TSchema;
}

export type OperationSpec = BatchSpec | CallSpec | StreamSpec;

const held = { shape: "batch", method: "POST", role: "work", priority: "held" } as const;
const get = { shape: "call", method: "GET", role: "read", errors: ["getRun"] } as const;
const admin = { shape: "call", method: "POST", role: "admin", isAudited: true, errors: [] } as const;
const operate = { shape: "call", method: "POST", role: "operate", isAudited: true } as const;

/**
 * Every operation of the protocol.
 *
 * Routing, validation, the types of clients, the OpenAPI document and the tables of docs/reference/protocol.md come from
 * this table.
 */
export const OPERATIONS = {
  claim: {
    ...held,
    priority: "new",
    path: "/v1/claim",
    summary: "Acquire shards of a run that no worker holds. `waitMs` waits for one.",
    element: wire.ClaimElement,
    response: wire.ClaimOk,
    errors: ["claim"],
  },
  acquire: {
    ...held,
    priority: "new",
    path: "/v1/acquire",
    summary: "Acquire one particular shard.",
    element: wire.AcquireElement,
    response: wire.AcquireOk,
    errors: ["acquire"],
  },
  renew: {
    ...held,
    path: "/v1/renew",
    summary: "Move the deadline of a lease.",
    element: wire.RenewElement,
    response: wire.RenewOk,
    errors: ["renew"],
  },
  checkpoint: {
    ...held,
    path: "/v1/checkpoint",
    summary: "Store how far the work has come, and with `renew` move the deadline too.",
    element: wire.CheckpointElement,
    response: wire.CheckpointOk,
    errors: ["checkpoint"],
  },
  checkpointMany: {
    shape: "call",
    method: "POST",
    role: "work",
    path: "/v1/checkpoint-many",
    summary:
      "Checkpoints of one worker in one run, in a short form. `done` is the result of all that `others` does not list.",
    column: "shards",
    body: wire.CheckpointManyBody,
    response: wire.CheckpointManyOk,
    errors: ["checkpoint"],
  },
  complete: {
    ...held,
    path: "/v1/complete",
    summary: "Mark a shard as done, at a cursor or with `isExhausted`.",
    element: wire.CompleteElement,
    response: wire.OutcomeOk,
    errors: ["complete"],
  },
  park: {
    ...held,
    path: "/v1/park",
    summary: "Set a shard aside for a reason.",
    element: wire.ParkElement,
    response: wire.OutcomeOk,
    errors: ["park"],
  },
  release: {
    ...held,
    path: "/v1/release",
    summary: "Give a shard back, to be acquired by any worker.",
    element: wire.ReleaseElement,
    response: wire.OutcomeOk,
    errors: ["release"],
  },
  splitReplace: {
    ...held,
    path: "/v1/split-replace",
    summary: "Replace a shard by children that tile its range.",
    element: wire.SplitReplaceElement,
    response: wire.SplitReplaceOk,
    errors: ["split"],
  },
  splitResidual: {
    ...held,
    path: "/v1/split-residual",
    summary: "Keep `range` and give `residual`, the upper part, to other workers.",
    element: wire.SplitResidualElement,
    response: wire.SplitResidualOk,
    errors: ["split"],
  },
  createRun: {
    ...operate,
    path: "/v1/runs",
    summary: "Create a run, with its first shards if `shards` and `opId` are sent.",
    body: wire.CreateRunBody,
    response: wire.RunOk,
    errors: ["createRun", "createRunWithShards"],
  },
  registerShards: {
    ...operate,
    path: "/v1/runs/{run}/shards",
    summary:
      "Give a run its first shards. With `more`, they are a page, and the run becomes Active with the last page; pages come in the order of their keys.",
    body: wire.RegisterShardsBody,
    response: wire.RegisteredOk,
    errors: ["registerShards"],
  },
  getRun: { ...get, path: "/v1/runs/{run}", summary: "A run.", query: wire.LogQuery, response: wire.RunOk },
  lookUpRun: {
    ...get,
    path: "/v1/runs/{run}/lookup",
    summary: "A run, with its log; or whether it was deleted; or neither, if there never was such a run.",
    query: wire.TenantQuery,
    response: wire.RunLookupOk,
  },
  listRuns: {
    ...get,
    path: "/v1/runs",
    summary: "A tenant's runs by id, a page at a time.",
    query: wire.ListRunsQuery,
    response: wire.ListRunsOk,
  },
  getProgress: {
    ...get,
    path: "/v1/runs/{run}/progress",
    summary: "The run's shards, counted by state.",
    query: wire.TenantQuery,
    response: wire.ProgressOk,
  },
  getCapacity: {
    ...get,
    path: "/v1/runs/{run}/capacity",
    summary: "How much of the run can be claimed.",
    query: wire.TenantQuery,
    response: wire.CapacityOk,
  },
  estimateProgress: {
    ...get,
    path: "/v1/runs/{run}/estimate",
    summary: "How far the run has come in key space. Looks at every shard.",
    query: wire.TenantQuery,
    response: wire.EstimateOk,
  },
  listCandidates: {
    ...get,
    path: "/v1/runs/{run}/candidates",
    summary: "Every shard that could be claimed now. Looks at every shard.",
    query: wire.TenantQuery,
    response: wire.CandidatesOk,
  },
  completeRun: {
    ...operate,
    path: "/v1/runs/{run}/complete",
    summary: "End a run whose shards are settled.",
    body: wire.CompleteRunBody,
    response: wire.RunOk,
    errors: ["completeRun"],
  },
  failRun: {
    ...operate,
    path: "/v1/runs/{run}/fail",
    summary: "End a run as failed.",
    body: wire.OpIdBody,
    response: wire.RunOk,
    errors: ["failRun"],
  },
  cancelRun: {
    ...operate,
    path: "/v1/runs/{run}/cancel",
    summary: "End a run before its work is done.",
    body: wire.OpIdBody,
    response: wire.RunOk,
    errors: ["cancelRun"],
  },
  deleteRun: {
    ...operate,
    method: "DELETE",
    path: "/v1/runs/{run}",
    summary: "Remove a run that has ended, and its shards. Its id can never be used again.",
    query: wire.TenantQuery,
    response: wire.EmptyOk,
    errors: ["deleteRun"],
  },
  listShards: {
    ...get,
    path: "/v1/runs/{run}/shards",
    summary: "A run's shards by range start, a page at a time.",
    query: wire.ListShardsQuery,
    response: wire.ListShardsOk,
  },
  listShardRecords: {
    ...get,
    path: "/v1/runs/{run}/records",
    summary: "As the list of shards, with everything that is stored about each of them; `log=true` for its operations.",
    query: wire.ListRecordsQuery,
    response: wire.ListRecordsOk,
  },
  getShard: {
    ...get,
    path: "/v1/runs/{run}/shards/{shard}",
    summary: "A shard. Without `shard` in the response the run has none with this id.",
    query: wire.LogQuery,
    response: wire.ShardOk,
  },
  unpark: {
    ...operate,
    path: "/v1/runs/{run}/shards/{shard}/unpark",
    summary: "Let workers at a parked shard again.",
    body: wire.OpIdBody,
    response: wire.OutcomeOk,
    errors: ["unpark"],
  },
  listFailures: {
    ...get,
    path: "/v1/runs/{run}/failures",
    summary: "The items that a run skipped, by key, a page at a time.",
    query: notes.ListFailuresQuery,
    response: notes.ListFailuresOk,
  },
  countFailures: {
    ...get,
    path: "/v1/runs/{run}/failures/count",
    summary: "How many items a run skipped, or `limit` if there are more.",
    query: notes.CountQuery,
    response: notes.CountOk,
  },
  resolveFailures: {
    ...operate,
    path: "/v1/runs/{run}/failures/resolve",
    summary: "Remove items from the list of failures, because they succeeded after all.",
    body: notes.ResolveBody,
    response: wire.EmptyOk,
    errors: ["getRun"],
  },
  listParked: {
    ...get,
    path: "/v1/runs/{run}/parked",
    summary: "What went wrong with parked shards, by shard, a page at a time.",
    query: notes.PageQuery,
    response: notes.ListParkedOk,
  },
  getParked: {
    ...get,
    path: "/v1/runs/{run}/shards/{shard}/parked",
    summary: "What went wrong with one parked shard.",
    query: wire.TenantQuery,
    response: notes.ParkedOk,
  },
  listWorkers: {
    ...get,
    path: "/v1/runs/{run}/workers",
    summary: "The workers of a run that registered lately, by id, a page at a time.",
    query: notes.PageQuery,
    response: notes.ListWorkersOk,
  },
  registerWorker: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/runs/{run}/workers/{worker}",
    summary: "Enter a worker in the list of a run, or renew its entry.",
    body: notes.WorkerBody,
    response: wire.EmptyOk,
  },
  unregisterWorker: {
    ...get,
    role: "work",
    method: "DELETE",
    path: "/v1/runs/{run}/workers/{worker}",
    summary: "Remove a worker that stops. Otherwise its entry expires.",
    query: wire.TenantQuery,
    response: wire.EmptyOk,
  },
  putMarker: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/marker",
    summary: "Note the item that the holder of a shard is about to process.",
    body: notes.MarkerBody,
    response: wire.EmptyOk,
  },
  getMarker: {
    ...get,
    path: "/v1/runs/{run}/shards/{shard}/marker",
    summary: "The item that a holder of the shard was about to process.",
    query: wire.TenantQuery,
    response: notes.MarkerOk,
  },
  getRunSettings: {
    ...get,
    path: "/v1/runs/{run}/settings",
    summary: "Whether the run is paused, and the limits of all its workers together.",
    query: wire.TenantQuery,
    response: notes.SettingsOk,
  },
  changeRunSettings: {
    ...operate,
    path: "/v1/runs/{run}/settings",
    summary: "Pause or resume a run, or change its limits. Returns the settings after the change.",
    body: notes.SettingsBody,
    response: notes.SettingsOk,
    errors: ["getRun"],
  },
  getRollup: {
    ...get,
    path: "/v1/runs/{run}/rollups/{name}",
    summary: "A document that the processes of a run share, if there is one of this name.",
    query: wire.TenantQuery,
    response: notes.RollupOk,
  },
  putRollup: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/runs/{run}/rollups/{name}",
    summary: "Store such a document. Without `value64` it is removed.",
    body: notes.RollupBody,
    response: wire.EmptyOk,
  },
  renewBudget: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/runs/{run}/workers/{worker}/budget",
    summary: "Renew the part of the run's limits that a worker has. Without `grant` the run has no limits.",
    body: notes.BudgetBody,
    response: notes.BudgetOk,
  },
  returnBudget: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/runs/{run}/workers/{worker}/budget/return",
    summary: "Give back the part of the run's limits that a worker has. Otherwise it ends by itself.",
    body: notes.ReturnBody,
    response: wire.EmptyOk,
  },
  holdRun: {
    ...get,
    role: "work",
    method: "POST",
    path: "/v1/runs/{run}/hold",
    summary: "Let no worker start an item for a while, because a service that all use asked for it.",
    body: notes.HoldBody,
    response: wire.EmptyOk,
  },
  listTenants: {
    ...get,
    path: "/v1/tenants",
    summary: "The tenants that have a run and that the token may see.",
    query: wire.ListTenantsQuery,
    response: wire.ListTenantsOk,
    errors: [],
  },
  listScopes: {
    ...admin,
    method: "GET",
    isAudited: false,
    path: "/v1/scopes",
    summary: "The scopes and the moves of the cluster, as this node knows them.",
    response: scopes.ScopesOk,
  },
  routeRun: {
    ...admin,
    method: "GET",
    isAudited: false,
    path: "/v1/scopes/route",
    summary: "Which node owns a run, whether the run exists or not.",
    query: scopes.RouteQuery,
    response: scopes.RouteOk,
  },
  moveScope: {
    ...admin,
    path: "/v1/scopes/move",
    summary: "Move a scope of this node to another node. Repeat it with the same `id` if the answer is lost.",
    body: scopes.MoveScopeBody,
    response: scopes.MoveOk,
  },
  abortMove: {
    ...admin,
    path: "/v1/scopes/abort",
    summary: "End a move that is not committed.",
    body: scopes.AbortMoveBody,
    response: scopes.MoveOk,
  },
  markDown: {
    ...admin,
    path: "/v1/scopes/down",
    summary: "Declare a node down: the fallbacks of its scopes take them over after some seconds.",
    body: scopes.NodeBody,
    response: scopes.DownOk,
  },
  markUp: {
    ...admin,
    path: "/v1/scopes/up",
    summary: "Declare a node up again. Move its scopes back if you want to.",
    body: scopes.NodeBody,
    response: scopes.UpOk,
  },
  reloadScopes: {
    ...admin,
    path: "/v1/scopes/reload",
    summary: "Read the cluster file of this node again.",
    body: scopes.ReloadBody,
    response: scopes.ReloadOk,
  },
  events: {
    shape: "stream",
    method: "GET",
    role: "read",
    path: "/v1/events",
    summary: "What happens to a tenant's runs, from now on or from `Last-Event-ID`.",
    query: wire.EventsQuery,
    response: wire.EmptyOk,
    errors: [],
  },
  timestamp: {
    shape: "call",
    method: "GET",
    role: "read",
    path: "/v1/timestamp",
    summary: "Timestamps of the cluster's clock: the first of `count` that follow each other.",
    query: wire.TimestampQuery,
    response: wire.TimestampOk,
    errors: [],
  },
  ...CONSOLE_OPERATIONS,
} as const satisfies Readonly<Record<string, OperationSpec>>;

export type OperationName = keyof typeof OPERATIONS;

/** The names of the operations of one shape. */
export type NameOfShape<Shape extends OperationSpec["shape"]> = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]["shape"] extends Shape ? Name : never;
}[OperationName];

export type BatchName = NameOfShape<"batch">;
export type CallName = NameOfShape<"call">;

export const OPERATION_NAMES: readonly OperationName[] = Object.keys(OPERATIONS) as OperationName[];
