import { variantCodec, variantReader, type JsonCodec } from "../json/json-codec.ts";
import { JsonReader } from "../json/json-reader.ts";
import type { ShardId } from "../ids/shard-id.ts";
import { readShardSpecInputErrorJson, type ShardSpecInputError } from "../specs/shard-spec-input-error.ts";

/** Why a manifest was refused. It names shards and sizes, never keys. */
export type ManifestValidationError =
  | { readonly kind: "TooManyShards"; readonly count: number; readonly max: number }
  | { readonly kind: "Empty" }
  /** The smallest id that occurs more than once. */
  | { readonly kind: "DuplicateIds"; readonly shardId: ShardId }
  /** Bit 63 of the id is set, which only a split may do. *Addition.* */
  | { readonly kind: "DerivedIdInManifest"; readonly shardId: ShardId }
  /** An initial shard must have both bounds. Otherwise the range of the run would be unknown. */
  | { readonly kind: "UnboundedRange"; readonly shardId: ShardId }
  | { readonly kind: "InvalidSpec"; readonly shardId: ShardId; readonly reason: ShardSpecInputError }
  /** `shardA` starts first, or was listed first where both start at one key. */
  | { readonly kind: "OverlappingRanges"; readonly shardA: ShardId; readonly shardB: ShardId }
  | { readonly kind: "CursorKeyTooLarge"; readonly shardId: ShardId; readonly size: number; readonly max: number }
  /** *Addition.* */
  | { readonly kind: "CursorTokenTooLarge"; readonly shardId: ShardId; readonly size: number; readonly max: number }
  | { readonly kind: "CursorOutOfBounds"; readonly shardId: ShardId };

const { count, u64 } = JsonReader;

export const ManifestValidationError: JsonCodec<ManifestValidationError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ManifestValidationError>({
    TooManyShards: { count, max: count },
    Empty: {},
    DuplicateIds: { shardId: u64 },
    DerivedIdInManifest: { shardId: u64 },
    UnboundedRange: { shardId: u64 },
    InvalidSpec: { shardId: u64, reason: readShardSpecInputErrorJson },
    OverlappingRanges: { shardA: u64, shardB: u64 },
    CursorKeyTooLarge: { shardId: u64, size: count, max: count },
    CursorTokenTooLarge: { shardId: u64, size: count, max: count },
    CursorOutOfBounds: { shardId: u64 },
  }),
);
