/**
 * For the other packages of this repository only. Anything here can change or disappear in any release,
 * without a major version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { decodeShardIn } from "./decode-shard-record.ts";
export { encodeDeletedRunInto } from "./deleted-run.ts";
export { encodeRunRecordInto } from "./encode-run-record.ts";
export { encodeShardRecordInto } from "./encode-shard-record.ts";
export { FieldReader } from "./field-reader.ts";
export { RecordWriter } from "./record-writer.ts";
export { ShardEncoder } from "./shard-encoder.ts";
