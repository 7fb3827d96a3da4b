import { RunId, ShardId, ShardLimitScope } from "@gossip/contracts";
import { jsonError } from "@gossip/contracts/internal";
import type { ManifestValidationError, ShardKey, ShardSpecInputError, SplitValidationError } from "@gossip/contracts";
import { ok, Redacted, type SlabFull } from "@gossip/stdx";
import type { RunConfigError } from "./error-fields.ts";
import {
  byteSize,
  count,
  id,
  INVALID,
  invalid,
  isObject,
  oneOf,
  optional,
  plain,
  type FieldCodec,
} from "./field-codec.ts";
import { InfraError, isInfraCode, isInfraLabel, isInfraMessage } from "./infra-error.ts";
import { variants } from "./variant-codec.ts";

const shardId = id(ShardId);
const runId = id(RunId);

export const limitScope: FieldCodec<ShardLimitScope> = oneOf(ShardLimitScope.values);

export const shardKey: FieldCodec<ShardKey> = {
  show: (key) => (isObject(key) ? `${runId.show(key["run"])}/${shardId.show(key["shard"])}` : INVALID),
  encode: (key) => (isObject(key) ? { run: runId.encode(key["run"]), shard: shardId.encode(key["shard"]) } : INVALID),
  decode: (json, field) => {
    if (!isObject(json)) return invalid(field, "an object with run and shard");
    const run = runId.decode(json["run"], `${field}.run`);
    if (!run.ok) return run;
    const shard = shardId.decode(json["shard"], `${field}.shard`);
    return shard.ok ? ok({ run: run.value, shard: shard.value }) : shard;
  },
};

export const slabFull: FieldCodec<SlabFull> = variants<SlabFull>({
  SlabFull: { requested: byteSize, available: byteSize },
});

export const runConfigError: FieldCodec<RunConfigError> = variants<RunConfigError>({
  ZeroLeaseDuration: {},
});

const shardSpecInputError: FieldCodec<ShardSpecInputError> = variants<ShardSpecInputError>({
  KeyTooLarge: { size: byteSize, max: byteSize },
  MetadataTooLarge: { size: byteSize, max: byteSize },
  InvertedRange: { startLen: byteSize, endLen: byteSize },
});

export const splitValidationError: FieldCodec<SplitValidationError> = variants<SplitValidationError>(
  {
    NoChildren: {},
    SingleChild: {},
    StartMismatch: { parentStart: byteSize, firstChildStart: byteSize },
    EndMismatch: { parentEnd: byteSize, lastChildEnd: byteSize },
    BoundaryMismatch: { childIndex: count, nextChildIndex: count, childEnd: byteSize, nextChildStart: byteSize },
    InvertedChild: { childIndex: count },
    OverlappingChild: { childIndex: count, nextChildIndex: count },
    ParentCursorOutOfBounds: { cursor: byteSize, newParentStart: byteSize, newParentEnd: byteSize },
    SpawnLimitExceeded: { current: count, additional: count, max: count },
    BackendChildLimitExceeded: { requested: count, backendMax: count },
    ShardLimitExceeded: { current: count, additional: count, max: count, scope: limitScope },
    DerivedIdCollision: { derivedId: shardId },
    InvalidChildSpec: { childIndex: count },
    InvalidChildCursor: { childIndex: count },
  },
  jsonError,
);

export const manifestValidationError: FieldCodec<ManifestValidationError> = variants<ManifestValidationError>(
  {
    TooManyShards: { count, max: count },
    Empty: {},
    DuplicateIds: { shardId },
    DerivedIdInManifest: { shardId },
    UnboundedRange: { shardId },
    InvalidSpec: { shardId, reason: shardSpecInputError },
    OverlappingRanges: { shardA: shardId, shardB: shardId },
    CursorKeyTooLarge: { shardId, size: byteSize, max: byteSize },
    CursorTokenTooLarge: { shardId, size: byteSize, max: byteSize },
    CursorOutOfBounds: { shardId },
  },
  jsonError,
);

// What the driver threw stays here: it is neither shown nor sent.
const droppedCause: FieldCodec<Redacted<unknown>> = {
  show: () => "",
  encode: () => undefined,
  decode: () => ok(new Redacted<unknown>(undefined)),
};

const infraFields = {
  operation: plain("a dotted label", isInfraLabel),
  message: plain("a sentence", isInfraMessage),
  code: optional(plain("a driver's code", isInfraCode)),
  cause: droppedCause,
};

export const infraError: FieldCodec<InfraError> = makeInfraCodec();

function makeInfraCodec(): FieldCodec<InfraError> {
  const codec = variants<InfraError>({ Transient: infraFields, Corruption: infraFields });
  return {
    ...codec,
    show: (value) => (codec.encode(value) === INVALID ? INVALID : showInfra(value as InfraError)),
  };
}

function showInfra(error: InfraError): string {
  return InfraError.format({
    ...error,
    operation: infraFields.operation.show(error.operation),
    message: infraFields.message.show(error.message),
    code: error.code === undefined ? undefined : infraFields.code.show(error.code),
  });
}
