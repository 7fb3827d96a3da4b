import { ShardLimitScope, type RunId, type ShardId } from "@gossip/contracts";
import type { ManifestValidationError, ShardKey, ShardSpecInputError, SplitValidationError } from "@gossip/contracts";
import { invalidField, jsonError, JsonReader } from "@gossip/contracts/internal";
import { ok, Redacted, type SlabFull } from "@gossip/stdx";
import type { RunConfigError } from "./error-fields.ts";
import { byteSize, count, hidden, id, INVALID, isObject, oneOf, optional, plain } from "./field-codec.ts";
import type { FieldCodec } from "./field-codec.ts";
import { InfraError, isInfraCode, isInfraLabel, isInfraMessage } from "./infra-error.ts";
import { variants } from "./variant-codec.ts";

const shardId = id<ShardId>();
const runId = id<RunId>();

export const limitScope: FieldCodec<ShardLimitScope> = oneOf(ShardLimitScope.values);

const readShardKey = JsonReader.object<ShardKey>({ run: JsonReader.u64, shard: JsonReader.u64 });

export const shardKey: FieldCodec<ShardKey> = {
  show: (key) => (isObject(key) ? `${runId.show(key["run"])}/${shardId.show(key["shard"])}` : INVALID),
  encode: (key) => (isObject(key) ? { run: runId.encode(key["run"]), shard: shardId.encode(key["shard"]) } : INVALID),
  decode: (json, field) =>
    isObject(json) ? readShardKey(json, field) : invalidField(field, "an object with run and shard"),
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

// What the driver threw stays here: it is not sent.
const droppedCause = {
  ...hidden<unknown>(),
  encode: () => undefined,
  decode: () => ok(new Redacted<unknown>(undefined)),
};

const infraFields = {
  operation: plain("a dotted label", isInfraLabel),
  message: plain("a sentence", isInfraMessage),
  code: optional(plain("a driver's code", isInfraCode)),
  cause: droppedCause,
};

const infra = variants<InfraError>({ Transient: infraFields, Corruption: infraFields });

export const infraError: FieldCodec<InfraError> = {
  ...infra,
  show: (value) => {
    const shown = infra.encode(value);
    return shown === INVALID ? INVALID : InfraError.format(shown as InfraError);
  },
};
