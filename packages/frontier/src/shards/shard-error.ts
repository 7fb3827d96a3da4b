import type { ShardSpecInputError } from "@gossip/contracts";
import type { SlabFull } from "@gossip/stdx";
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

/** Why a prefix is not a valid shard. Sizes are in bytes. */
export type PrefixShardError =
  /** Every key starts with the empty prefix: that range has no upper bound. */
  | { readonly kind: "EmptyPrefix" }
  | { readonly kind: "PrefixTooLarge"; readonly size: number; readonly max: number }
  /** The prefix is `ff` throughout, and nothing lies above the keys that start with it. */
  | { readonly kind: "NoSuccessor" }
  | { readonly kind: "InvalidShardSpec"; readonly reason: ShardSpecInputError };

/** Why a spec was not stored in an arena: it is invalid (see `reason`), or there is no room. */
export type ShardIntoError<E> = { readonly kind: "Build"; readonly reason: E } | SlabFull;
