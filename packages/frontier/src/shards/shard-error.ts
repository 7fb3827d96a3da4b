import { ShardSpecInputError, type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { SlabFull } from "@gossip/stdx";
import type { ManifestRow } from "../keys/manifest-id.ts";
import { nestedJson } from "../nested-json.ts";

const { count, u64 } = JsonReader;
const size = { size: count, max: count };

/** Why a hint, or metadata with one, has no encoding. Sizes are in bytes. */
export type ShardEncodeError =
  /** The prefix is longer than its length field can hold. */
  | { readonly kind: "PrefixTooLarge"; readonly size: number; readonly max: number }
  /** The hint alone is longer than metadata may be. */
  | { readonly kind: "HintTooLarge"; readonly size: number; readonly max: number }
  /** Hint and connector's bytes together are longer than metadata may be. */
  | { readonly kind: "MetadataTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "InvertedManifestRows"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

export const ShardEncodeError: JsonCodec<ShardEncodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardEncodeError>({
    PrefixTooLarge: size,
    HintTooLarge: size,
    MetadataTooLarge: size,
    InvertedManifestRows: { startRow: u64, endRow: u64 },
  }),
);

/** Why a prefix is not a valid shard. Sizes are in bytes. */
export type PrefixShardError =
  /** Every key starts with the empty prefix: that range has no upper bound. */
  | { readonly kind: "EmptyPrefix" }
  | { readonly kind: "PrefixTooLarge"; readonly size: number; readonly max: number }
  /** The prefix is `ff` throughout, and nothing lies above the keys that start with it. */
  | { readonly kind: "NoSuccessor" }
  | { readonly kind: "InvalidShardSpec"; readonly reason: ShardSpecInputError };

export const PrefixShardError: JsonCodec<PrefixShardError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<PrefixShardError>({
    EmptyPrefix: {},
    PrefixTooLarge: size,
    NoSuccessor: {},
    InvalidShardSpec: { reason: /* @__PURE__ */ nestedJson(ShardSpecInputError) },
  }),
);

/** Why a spec was not stored in an arena: it is invalid (see `reason`), or there is no room. */
export type ShardIntoError<E> = { readonly kind: "Build"; readonly reason: E } | SlabFull;

/** Every reason that a constructor of this package has. */
type AnyReason = PrefixShardError | ShardSpecInputError;

const readReason = /* @__PURE__ */ variantReader<AnyReason>({
  EmptyPrefix: {},
  PrefixTooLarge: size,
  NoSuccessor: {},
  InvalidShardSpec: { reason: /* @__PURE__ */ nestedJson(ShardSpecInputError) },
  KeyTooLarge: size,
  MetadataTooLarge: size,
  InvertedRange: { startLen: count, endLen: count },
});

export const ShardIntoError: JsonCodec<ShardIntoError<AnyReason>> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardIntoError<AnyReason>>({
    Build: { reason: readReason },
    SlabFull: { requested: count, available: count },
  }),
);
