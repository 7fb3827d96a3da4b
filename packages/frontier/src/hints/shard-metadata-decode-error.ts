import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import { nestedJson } from "../nested-json.ts";
import { ShardHintDecodeError } from "./shard-hint-decode-error.ts";

/**
 * Why bytes are not metadata.
 *
 * `hintError` is there where the envelope was sound and the hint in it was not. It is
 * missing where the envelope itself is broken: no room for its length field, a hint
 * longer than the input, or a hint that ends before its declared length.
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
