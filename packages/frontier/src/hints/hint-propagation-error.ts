import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";

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

const { u64 } = JsonReader;
const boundary: JsonReader<SplitBoundary> = /* @__PURE__ */ JsonReader.oneOf(["Start", "End"]);

export const HintPropagationError: JsonCodec<HintPropagationError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<HintPropagationError>({
    InvalidPrefixBoundary: { boundary },
    InvalidManifestBoundary: { boundary },
    ManifestIdMismatch: { parent: u64, child: u64 },
    EmptyManifestRange: { startRow: u64, endRow: u64 },
  }),
);
