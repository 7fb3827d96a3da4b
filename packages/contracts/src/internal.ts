/**
 * For the other packages of this repository only. Anything here can change or disappear in any release,
 * without a major version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { CanonicalWriter } from "./canonical-writer.ts";
export { readCursorJson } from "./cursor.ts";
export { deriveKeyHasher, type DomainHasher } from "./derive-key-hasher.ts";
export { DOMAINS } from "./domains.ts";
export { encodeCursorInto, encodeShardKeyInto, encodeShardSpecInto } from "./encode-canonical.ts";
export { encodeSplitReplacePlanInto, encodeSplitResidualPlanInto } from "./encode-split-plan.ts";
export { variantCodec, variantReader } from "./json-codec.ts";
export { jsonError } from "./json-error.ts";
export { JsonReader, type JsonFieldReaders } from "./json-reader.ts";
export { persistedEnum } from "./persisted-enum.ts";
export { readShardSpecJson } from "./shard-spec-ref.ts";
export { u64Companion } from "./u64-companion.ts";
