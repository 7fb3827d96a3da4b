import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";

/** Why bytes do not start with a hint. Sizes are in bytes. */
export type ShardHintDecodeError =
  | { readonly kind: "EmptyData" }
  | { readonly kind: "UnknownTag"; readonly tag: number }
  | { readonly kind: "TruncatedPrefix"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "TruncatedManifest"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "InvertedManifestRows"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

/**
 * Why bytes are not metadata.
 *
 * `hintError` is set if the envelope is valid and the hint in it is not. It is absent if the envelope itself is broken:
 * no room for its length field, a hint longer than the input, or a hint that ends before its declared length.
 */
export interface ShardMetadataDecodeError {
  readonly kind: "MalformedMetadata";
  readonly hintError: ShardHintDecodeError | undefined;
}

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
