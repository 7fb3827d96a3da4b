import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { ManifestRow } from "../keys/manifest-id.ts";

/** Why bytes do not start with a hint. Sizes are in bytes. */
export type ShardHintDecodeError =
  | { readonly kind: "EmptyData" }
  | { readonly kind: "UnknownTag"; readonly tag: number }
  | { readonly kind: "TruncatedPrefix"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "TruncatedManifest"; readonly expectedMin: number; readonly actual: number }
  | { readonly kind: "InvertedManifestRows"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

const { count, u64 } = JsonReader;

export const ShardHintDecodeError: JsonCodec<ShardHintDecodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardHintDecodeError>({
    EmptyData: {},
    UnknownTag: { tag: count },
    TruncatedPrefix: { expectedMin: count, actual: count },
    TruncatedManifest: { expectedMin: count, actual: count },
    InvertedManifestRows: { startRow: u64, endRow: u64 },
  }),
);
