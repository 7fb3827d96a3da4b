/**
 * For the other packages of this repository only. Anything here can change or disappear in any release,
 * without a major version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { encodeDeletedRunInto } from "./deleted-run.ts";
export { encodeRunRecordInto } from "./encode-run-record.ts";
export { encodeShardRecordInto } from "./encode-shard-record.ts";
export { RecordReader } from "./record-reader.ts";
export { RecordWriter, type RecordWriterConstructor } from "./record-writer.ts";
export { ShardEncoder } from "./shard-encoder.ts";
