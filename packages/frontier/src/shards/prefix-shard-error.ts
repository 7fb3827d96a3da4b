import { ShardSpecInputError, type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import { nestedJson } from "../nested-json.ts";

/** Why a prefix is not a valid shard. Sizes are in bytes. */
export type PrefixShardError =
  /** Every key starts with the empty prefix: that range has no upper bound. */
  | { readonly kind: "EmptyPrefix" }
  | { readonly kind: "PrefixTooLarge"; readonly size: number; readonly max: number }
  /** The prefix is `ff` throughout, and nothing lies above the keys that start with it. */
  | { readonly kind: "NoSuccessor" }
  | { readonly kind: "InvalidShardSpec"; readonly reason: ShardSpecInputError };

const { count } = JsonReader;

export const PrefixShardError: JsonCodec<PrefixShardError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<PrefixShardError>({
    EmptyPrefix: {},
    PrefixTooLarge: { size: count, max: count },
    NoSuccessor: {},
    InvalidShardSpec: { reason: /* @__PURE__ */ nestedJson(ShardSpecInputError) },
  }),
);
