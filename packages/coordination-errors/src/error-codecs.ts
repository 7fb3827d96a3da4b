import { RunStatus, ShardStatus } from "@gossip/contracts";
import type { FenceEpoch, InvalidField, LogicalTime, OpId, RunId } from "@gossip/contracts";
import { invalidField } from "@gossip/contracts/internal";
import type { Result } from "@gossip/stdx";
import { EXHAUSTED_RESOURCES, type ErrorFields, type RunError } from "./error-fields.ts";
import { canFailWith, isErrorKind } from "./error-kind.ts";
import type { ErrorKind, KindsOf } from "./error-routes.ts";
import { abbreviatedTenant, byteSize, count, hidden, id, isObject, oneOf, optional, ordinal } from "./field-codec.ts";
import type { FieldCodec } from "./field-codec.ts";
import { infraError, limitScope, manifestValidationError, runConfigError } from "./reason-codecs.ts";
import { shardKey, slabFull, splitValidationError } from "./reason-codecs.ts";
import { variants, type FieldCodecs } from "./variant-codec.ts";

const runId = id<RunId>();
const time = ordinal<LogicalTime>();
const fence = ordinal<FenceEpoch>();
const shardStatus = oneOf(ShardStatus.values);
const runStatus = oneOf(RunStatus.values);

/**
 * How each field of each kind is printed, written and read. Nothing of an error leaves by any other way, so what has no
 * row here cannot leak.
 */
export const ERROR_CODECS = {
  ShardNotFound: { shard: shardKey },
  TenantMismatch: { expected: abbreviatedTenant },
  StaleFence: { presented: fence, current: fence },
  LeaseExpired: { deadline: time, now: time },
  ShardTerminal: { shard: shardKey, status: shardStatus },
  OpIdConflict: { opId: id<OpId>(), expectedHash: hidden(), actualHash: hidden() },
  CursorRegression: { oldKey: optional(byteSize), newKey: optional(byteSize) },
  CursorOutOfBounds: { lastKey: byteSize, specStart: byteSize, specEnd: byteSize },
  CursorKeyTooLarge: { size: byteSize, max: byteSize },
  CursorTokenTooLarge: { size: byteSize, max: byteSize },
  SplitInvalid: { reason: splitValidationError },
  CheckpointMissingKey: {},

  AlreadyLeased: { currentOwner: hidden(), leaseDeadline: time },
  ResourceExhausted: { resource: oneOf(EXHAUSTED_RESOURCES), slab: optional(slabFull) },
  NoneAvailable: { earliestDeadline: optional(time) },
  Throttled: { retryAfter: time },
  SessionClosed: { shard: shardKey },

  RunNotFound: {},
  RunTerminal: { status: runStatus },
  RunUnsettled: { active: count, parked: count },
  WrongStatus: { status: runStatus, target: optional(runStatus) },
  NotParked: { status: shardStatus },
  RunAlreadyExists: { run: runId },
  InvalidConfig: { reason: runConfigError },
  ConfigMismatch: { run: runId },
  ManifestInvalid: { reason: manifestValidationError },
  ShardLimitExceeded: { current: count, additional: count, max: count, scope: limitScope },
  RegisterShardsFailed: { reason: errorOf("registerShards") },
  GetRunFailed: { reason: errorOf("getRun") },

  BackendError: { reason: infraError },
} as const satisfies { readonly [K in ErrorKind]: FieldCodecs<ErrorFields[K]> };

/** An error's kind and fields, without its methods. */
export type ErrorData = { [K in ErrorKind]: { readonly kind: K } & ErrorFields[K] }[ErrorKind];

/** All errors, with or without their prototype. What is read has plain objects at every level. */
export const errorCodec: FieldCodec<ErrorData> = variants<ErrorData>(ERROR_CODECS);

/** An error that an operation of ours met on its way. It nests once: no such operation wraps another's error. */
function errorOf<Op extends "registerShards" | "getRun">(operation: Op): FieldCodec<RunError<KindsOf<Op>>> {
  return {
    show: (value) => errorCodec.show(value),
    encode: (value) => errorCodec.encode(value),
    decode: (json, field) => {
      const kind = isObject(json) ? json["kind"] : undefined;
      if (!isErrorKind(kind) || !canFailWith(operation, kind))
        return invalidField(`${field}.kind`, `a way in which ${operation} can fail`);
      return errorCodec.decode(json, field) as Result<RunError<KindsOf<Op>>, InvalidField>;
    },
  };
}
