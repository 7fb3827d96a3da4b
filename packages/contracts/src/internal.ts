/**
 * For the other packages of this repository only. Anything here can change or disappear in any release, without a major
 * version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { CanonicalWriter } from "./hashing/canonical-writer.ts";
export { readCursorJson } from "./cursors/cursor.ts";
export { deriveKeyHasher, DOMAINS } from "./hashing/derive-key-hasher.ts";
export {
  encodeCursorInto,
  encodeShardKeyInto,
  encodeShardSpecInto,
  encodeSplitReplacePlanInto,
  encodeSplitResidualPlanInto,
} from "./hashing/encode-canonical.ts";
export { variantReader } from "./json/json-codec.ts";
export { jsonError } from "./json/json-safe.ts";
export { invalidField, JsonReader, within, type JsonFieldReaders } from "./json/json-reader.ts";
export { persistedEnum } from "./states/persisted-enum.ts";
export { copyShardSpec, readShardSpecJson } from "./specs/shard-spec-ref.ts";
export { assertU64, formatU64, isU64 } from "./ids/u64.ts";
export { writeTenantId } from "./ids/tenant-id.ts";
export { u64Companion } from "./ids/u64-companion.ts";
