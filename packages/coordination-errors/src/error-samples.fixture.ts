import { FenceEpoch, LogicalTime, OpId, RunId, RunStatus, ShardId, ShardKey, ShardLimitScope } from "@gossip/contracts";
import { jsonError } from "@gossip/contracts/internal";
import {
  ShardStatus,
  TenantId,
  WorkerId,
  type ManifestValidationError,
  type ShardSpecInputError,
} from "@gossip/contracts";
import type { SplitValidationError } from "@gossip/contracts";
import type { SlabFull } from "@gossip/stdx";
import fc from "fast-check";
import { coordError, type ErrorInput } from "./coord-error.ts";
import { ERROR_CODECS } from "./error-codecs.ts";
import { EXHAUSTED_RESOURCES, type ErrorOfKind } from "./error-fields.ts";
import { ERROR_ROUTES, type ErrorKind, type KindsOf } from "./error-routes.ts";
import { InfraError } from "./infra-error.ts";
import type { AnyCoordError } from "./operation-errors.ts";

export const ERROR_KINDS = Object.keys(ERROR_ROUTES) as readonly ErrorKind[];

const U64_MAX = (1n << 64n) - 1n;

/** 64-bit integers, the ends and the edge of the safe numbers well represented. */
export const u64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.constantFrom(0n, 1n, U64_MAX, 1n << 63n, 1n << 53n),
);

const size = fc.nat({ max: 20_000 });
const time = u64.map((raw) => LogicalTime.fromRaw(raw));
const fence = u64.map((raw) => FenceEpoch.fromRaw(raw));
const shardId = u64.map((raw) => ShardId.fromRaw(raw));
const run = u64.map((raw) => RunId.fromRaw(raw));
const shard = fc.tuple(run, shardId).map(([runId, id]) => ShardKey.of(runId, id));
const shardStatus = fc.constantFrom(...ShardStatus.values);
const runStatus = fc.constantFrom(...RunStatus.values);
const scope = fc.constantFrom(...ShardLimitScope.values);
const limits = { current: size, additional: size, max: size };
const sized = fc.record({ size, max: size });

export const tenant: fc.Arbitrary<TenantId> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => TenantId.fromBytes(bytes));

const slab: fc.Arbitrary<SlabFull> = fc.record({
  kind: fc.constant("SlabFull" as const),
  requested: size,
  available: size,
});

/** One arbitrary for each kind of a union: a kind that is added there does not compile here. */
function variantsOf<U extends { readonly kind: string }>(rows: {
  readonly [K in U["kind"]]: {
    readonly [F in Exclude<keyof Extract<U, { kind: K }>, "kind">]: fc.Arbitrary<Extract<U, { kind: K }>[F]>;
  };
}): fc.Arbitrary<U> {
  const arbitraries = Object.entries<Readonly<Record<string, fc.Arbitrary<unknown>>>>(rows).map(([kind, fields]) =>
    fc.record(fields).map((values) => jsonError({ kind, ...values }) as unknown as U),
  );
  return fc.oneof(...arbitraries);
}

const specReason = variantsOf<ShardSpecInputError>({
  KeyTooLarge: { size, max: size },
  MetadataTooLarge: { size, max: size },
  InvertedRange: { startLen: size, endLen: size },
});

const splitReason = variantsOf<SplitValidationError>({
  NoChildren: {},
  SingleChild: {},
  StartMismatch: { parentStart: size, firstChildStart: size },
  EndMismatch: { parentEnd: size, lastChildEnd: size },
  BoundaryMismatch: { childIndex: size, nextChildIndex: size, childEnd: size, nextChildStart: size },
  InvertedChild: { childIndex: size },
  OverlappingChild: { childIndex: size, nextChildIndex: size },
  ParentCursorOutOfBounds: { cursor: size, newParentStart: size, newParentEnd: size },
  SpawnLimitExceeded: limits,
  BackendChildLimitExceeded: { requested: size, backendMax: size },
  ShardLimitExceeded: { ...limits, scope },
  DerivedIdCollision: { derivedId: shardId },
  InvalidChildSpec: { childIndex: size },
  InvalidChildCursor: { childIndex: size },
});

const manifestReason = variantsOf<ManifestValidationError>({
  TooManyShards: { count: size, max: size },
  Empty: {},
  DuplicateIds: { shardId },
  DerivedIdInManifest: { shardId },
  UnboundedRange: { shardId },
  InvalidSpec: { shardId, reason: specReason },
  OverlappingRanges: { shardA: shardId, shardB: shardId },
  CursorKeyTooLarge: { shardId, size, max: size },
  CursorTokenTooLarge: { shardId, size, max: size },
  CursorOutOfBounds: { shardId },
});

/** The texts are fixed, as the type of `InfraError.transient` wants them; what a driver says is in the cause. */
const infraReason = fc
  .record({
    kind: fc.constantFrom("transient" as const, "corruption" as const),
    code: fc.constantFrom(undefined, "57P01", 14, "ECONNRESET"),
    cause: fc.anything(),
  })
  .map(({ kind, ...rest }) =>
    InfraError[kind]({ operation: "acquire.loadShard", message: "the connection was lost", ...rest }),
  );

/** What each kind is made of. */
export const ERROR_INPUTS: { readonly [K in ErrorKind]: fc.Arbitrary<ErrorInput<K>> } = {
  ShardNotFound: fc.record({ shard }),
  TenantMismatch: fc.record({ expected: tenant }),
  StaleFence: fc.record({ presented: fence, current: fence }),
  LeaseExpired: fc.record({ deadline: time, now: time }),
  ShardTerminal: fc.record({ shard, status: shardStatus }),
  OpIdConflict: fc.record({ opId: u64.map((raw) => OpId.fromRaw(raw)), expectedHash: u64, actualHash: u64 }),
  CursorRegression: fc.record({
    oldKey: fc.option(size, { nil: undefined }),
    newKey: fc.option(size, { nil: undefined }),
  }),
  CursorOutOfBounds: fc.record({ lastKey: size, specStart: size, specEnd: size }),
  CursorKeyTooLarge: sized,
  CursorTokenTooLarge: sized,
  SplitInvalid: fc.record({ reason: splitReason }),
  CheckpointMissingKey: fc.constant({}),
  AlreadyLeased: fc.record({ currentOwner: u64.map((raw) => WorkerId.fromRaw(raw)), leaseDeadline: time }),
  ResourceExhausted: fc.record({
    resource: fc.constantFrom(...EXHAUSTED_RESOURCES),
    slab: fc.option(slab, { nil: undefined }),
  }),
  NoneAvailable: fc.record({ earliestDeadline: fc.option(time, { nil: undefined }) }),
  Throttled: fc.record({ retryAfter: time }),
  SessionClosed: fc.record({ shard }),
  RunNotFound: fc.constant({}),
  RunTerminal: fc.record({ status: runStatus }),
  RunUnsettled: fc.record({ active: size, parked: size }),
  WrongStatus: fc.record({ status: runStatus, target: fc.option(runStatus, { nil: undefined }) }),
  NotParked: fc.record({ status: shardStatus }),
  RunAlreadyExists: fc.record({ run }),
  InvalidConfig: fc.constant({ reason: { kind: "ZeroLeaseDuration" as const } }),
  ConfigMismatch: fc.record({ run }),
  ManifestInvalid: fc.record({ reason: manifestReason }),
  ShardLimitExceeded: fc.record({ ...limits, scope }),
  RegisterShardsFailed: fc.record({ reason: deferred("registerShards") }),
  GetRunFailed: fc.record({ reason: deferred("getRun") }),
  BackendError: fc.record({ reason: infraReason }),
};

/** Errors of one kind. */
export function errorsOfKind<K extends ErrorKind>(kind: K): fc.Arbitrary<ErrorOfKind<K>> {
  return (ERROR_INPUTS[kind] as fc.Arbitrary<ErrorInput<K>>).map((fields) => coordError(kind, fields));
}

/** Errors of all kinds, each as likely as another. */
export const anyError: fc.Arbitrary<AnyCoordError> = fc
  .constantFrom(...ERROR_KINDS)
  .chain((kind) => errorsOfKind<ErrorKind>(kind));

/** The names of the fields of a kind. */
export function fieldsOf(kind: ErrorKind): readonly string[] {
  return Object.keys(ERROR_CODECS[kind]);
}

/** Errors that an operation can have; the table above is not complete yet when it asks for them. */
function deferred<Op extends "registerShards" | "getRun">(operation: Op): fc.Arbitrary<ErrorOfKind<KindsOf<Op>>> {
  const kinds = ERROR_KINDS.filter(
    (kind) => ERROR_ROUTES[kind][operation] !== "no",
  ) as readonly ErrorKind[] as readonly KindsOf<Op>[];
  return fc.constantFrom(...kinds).chain((kind) => errorsOfKind(kind));
}
