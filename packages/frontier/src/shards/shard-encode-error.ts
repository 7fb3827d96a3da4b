import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { ManifestRow } from "../keys/manifest-id.ts";

/** Why a hint, or metadata with one, has no encoding. Sizes are in bytes. */
export type ShardEncodeError =
  /** The prefix is longer than its length field can hold. */
  | { readonly kind: "PrefixTooLarge"; readonly size: number; readonly max: number }
  /** The hint alone is longer than metadata may be. */
  | { readonly kind: "HintTooLarge"; readonly size: number; readonly max: number }
  /** Hint and connector's bytes together are longer than metadata may be. */
  | { readonly kind: "MetadataTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "InvertedManifestRows"; readonly startRow: ManifestRow; readonly endRow: ManifestRow };

const { count, u64 } = JsonReader;

export const ShardEncodeError: JsonCodec<ShardEncodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ShardEncodeError>({
    PrefixTooLarge: { size: count, max: count },
    HintTooLarge: { size: count, max: count },
    MetadataTooLarge: { size: count, max: count },
    InvertedManifestRows: { startRow: u64, endRow: u64 },
  }),
);
