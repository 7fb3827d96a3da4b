import type { JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import { nestedJson } from "../nested-json.ts";

const { count, u64 } = JsonReader;

/** Why bytes do not start with a hint. Sizes are in bytes. */
export type ShardHintDecodeError =
  | { readonly kind: "EmptyData" }
  | { readonly kind: "UnknownTag"; readonly tag: number }
  | { readonly kind: "TruncatedPrefix"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "TruncatedManifest"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "InvertedManifestRows"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

export const ShardHintDecodeError: JsonCodec<ShardHintDecodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardHintDecodeError>({
    EmptyData: {},
    UnknownTag: { tag: count },
    TruncatedPrefix: { expectedMin: count, actual: count },
    TruncatedManifest: { expectedMin: count, actual: count },
    InvertedManifestRows: { startRow: u64, endRow: u64 },
  }),
);

/**
 * Why bytes are not metadata.
 *
 * `hintError` is set if the envelope is valid and the hint in it is not. It is absent if the
 * envelope itself is broken: no room for its length field, a hint longer than the input, or
 * a hint that ends before its declared length.
 */
export interface ShardMetadataDecodeError {
  readonly kind: "MalformedMetadata";
  readonly hintError: ShardHintDecodeError | undefined;
}

export const ShardMetadataDecodeError: JsonCodec<ShardMetadataDecodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardMetadataDecodeError>({
    MalformedMetadata: {
      hintError: /* @__PURE__ */ JsonReader.optional(/* @__PURE__ */ nestedJson(ShardHintDecodeError)),
    },
  }),
);

/** Which end of a child's range is meant. */
export type SplitBoundary = "Start" | "End";

/** Why a child's range does not fit the hint of its parent. */
export type HintPropagationError =
  /** The bound lies outside what the parent's prefix covers. */
  | { readonly kind: "InvalidPrefixBoundary"; readonly boundary: SplitBoundary }
  /** The bound is not a manifest row, or lies outside the parent's rows. */
  | { readonly kind: "InvalidManifestBoundary"; readonly boundary: SplitBoundary }
  | { readonly kind: "ManifestIdMismatch"; readonly parent: ManifestId; readonly child: ManifestId }
  /** The child would have no rows. */
  | { readonly kind: "EmptyManifestRange"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

const boundary: JsonReader<SplitBoundary> = /* @__PURE__ */ JsonReader.oneOf(["Start", "End"]);

export const HintPropagationError: JsonCodec<HintPropagationError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<HintPropagationError>({
    InvalidPrefixBoundary: { boundary },
    InvalidManifestBoundary: { boundary },
    ManifestIdMismatch: { parent: u64, child: u64 },
    EmptyManifestRange: { startRow: u64, endRow: u64 },
  }),
);
