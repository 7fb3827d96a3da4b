import { ManifestValidationError, ShardSpecInputError, type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";
import type { SlabFull } from "@gossip/stdx";
import { nestedJson } from "../nested-json.ts";
import { PrefixShardError } from "../shards/shard-error.ts";

/** Why a builder cannot be made. */
export type BuilderLimitError =
  | { readonly kind: "EntryLimitZero" }
  | { readonly kind: "CapMismatch"; readonly entryLimit: number; readonly cap: number }
  /** Cannot happen while a builder's greatest capacity is below a manifest's. */
  | { readonly kind: "EntryLimitExceedsManifestMax"; readonly entryLimit: number; readonly max: number };

/** The builder holds `current` entries and may hold `limit`: there is no room for `additional` more. */
export interface CapacityExceeded {
  readonly kind: "CapacityExceeded";
  readonly limit: number;
  readonly current: number;
  readonly additional: number;
}

/** One call asked for more children than a split may have. `requested` is exact up to 2^53 − 1, and that for any more. */
export interface FanOutExceeded {
  readonly kind: "FanOutExceeded";
  readonly limit: number;
  readonly requested: number;
}

export interface RangeInvalid {
  readonly kind: "RangeInvalid";
  readonly reason: ShardSpecInputError;
}

export interface PrefixInvalid {
  readonly kind: "PrefixInvalid";
  readonly reason: PrefixShardError;
}

export interface ManifestCtorInvalid {
  readonly kind: "ManifestCtorInvalid";
  readonly reason: ShardSpecInputError;
}

export interface SpecInvalid {
  readonly kind: "SpecInvalid";
  readonly reason: ShardSpecInputError;
}

/** The handle names no spec of the builder's arena: it is stale, freed or of another arena. */
export interface InvalidSpecHandle {
  readonly kind: "InvalidSpecHandle";
}

export interface ManifestInvalid {
  readonly kind: "ManifestInvalid";
  readonly reason: ManifestValidationError;
}

/** Every way in which a builder can refuse. Each method lists its own. */
export type PreallocShardBuilderError =
  | BuilderLimitError
  | CapacityExceeded
  | FanOutExceeded
  | SlabFull
  | RangeInvalid
  | PrefixInvalid
  | ManifestCtorInvalid
  | SpecInvalid
  | InvalidSpecHandle
  | ManifestInvalid;

const { count } = JsonReader;
const readSpecRefusal = /* @__PURE__ */ nestedJson(ShardSpecInputError);

export const PreallocShardBuilderError: JsonCodec<PreallocShardBuilderError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<PreallocShardBuilderError>({
    EntryLimitZero: {},
    CapMismatch: { entryLimit: count, cap: count },
    EntryLimitExceedsManifestMax: { entryLimit: count, max: count },
    CapacityExceeded: { limit: count, current: count, additional: count },
    FanOutExceeded: { limit: count, requested: count },
    SlabFull: { requested: count, available: count },
    RangeInvalid: { reason: readSpecRefusal },
    PrefixInvalid: { reason: /* @__PURE__ */ nestedJson(PrefixShardError) },
    ManifestCtorInvalid: { reason: readSpecRefusal },
    SpecInvalid: { reason: readSpecRefusal },
    InvalidSpecHandle: {},
    ManifestInvalid: { reason: /* @__PURE__ */ nestedJson(ManifestValidationError) },
  }),
);
