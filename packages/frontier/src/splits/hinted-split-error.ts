import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import { HintPropagationError, ShardMetadataDecodeError } from "../hints/hint-error.ts";
import { nestedJson } from "../nested-json.ts";

/** Why the children of a split have no hint, although the split itself was planned. *Addition.* */
export type HintedSplitError =
  /** The parent's metadata holds no hint to hand on. */
  | { readonly kind: "ParentMetadataInvalid"; readonly reason: ShardMetadataDecodeError }
  /** The child at this position does not fit the parent's hint. A residual split's parent is 0, its residual 1. */
  | { readonly kind: "ChildHintInvalid"; readonly childIndex: number; readonly reason: HintPropagationError };

export const HintedSplitError: JsonCodec<HintedSplitError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<HintedSplitError>({
    ParentMetadataInvalid: { reason: /* @__PURE__ */ nestedJson(ShardMetadataDecodeError) },
    ChildHintInvalid: {
      childIndex: JsonReader.count,
      reason: /* @__PURE__ */ nestedJson(HintPropagationError),
    },
  }),
);
