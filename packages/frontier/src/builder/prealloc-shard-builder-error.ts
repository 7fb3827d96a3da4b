import type { ManifestValidationError, ShardSpecInputError } from "@gossip/contracts";
import type { SlabFull } from "@gossip/stdx";
import type { PrefixShardError } from "../shards/shard-error.ts";

/** Every way in which a builder can refuse. Each method lists its own. */
export type PreallocShardBuilderError =
  | { readonly kind: "EntryLimitZero" }
  | { readonly kind: "CapMismatch"; readonly entryLimit: number; readonly cap: number }
  /** Cannot happen while a builder's greatest capacity is below a manifest's. */
  | { readonly kind: "EntryLimitExceedsManifestMax"; readonly entryLimit: number; readonly max: number }
  /** The builder holds `current` entries and may hold `limit`: there is no room for `additional` more. */
  | { readonly kind: "CapacityExceeded"; readonly limit: number; readonly current: number; readonly additional: number }
  /** One call asked for more children than a split may have. `requested` is exact up to 2^53 − 1, and that for any more. */
  | { readonly kind: "FanOutExceeded"; readonly limit: number; readonly requested: number }
  | SlabFull
  | { readonly kind: "RangeInvalid"; readonly reason: ShardSpecInputError }
  | { readonly kind: "PrefixInvalid"; readonly reason: PrefixShardError }
  | { readonly kind: "ManifestCtorInvalid"; readonly reason: ShardSpecInputError }
  | { readonly kind: "SpecInvalid"; readonly reason: ShardSpecInputError }
  /** The handle names no spec of the builder's arena: it is stale, freed or of another arena. */
  | { readonly kind: "InvalidSpecHandle" }
  | { readonly kind: "ManifestInvalid"; readonly reason: ManifestValidationError };
