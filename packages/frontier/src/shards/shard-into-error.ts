import { ShardSpecInputError, type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { SlabFull } from "@gossip/stdx";
import { nestedJson } from "../nested-json.ts";
import type { PrefixShardError } from "./prefix-shard-error.ts";

/** Why a spec was not stored in an arena: it is invalid (see `reason`), or there is no room. */
export type ShardIntoError<E> = { readonly kind: "Build"; readonly reason: E } | SlabFull;

/** Every reason that a constructor of this package has. */
type AnyReason = PrefixShardError | ShardSpecInputError;

const { count } = JsonReader;
const size = { size: count, max: count };

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
