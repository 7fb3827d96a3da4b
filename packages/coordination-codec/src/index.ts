export { decodeBlobHeader, type BlobHeader } from "./blob-header.ts";
export { BlobKind, CODEC_VERSION, type CodecVersion } from "./blob-kind.ts";
export { codecErrorInWords, corruptionFrom, type CodecError, type StoredCursorError } from "./codec-error.ts";
export { decodeRunHead, decodeRunRecord } from "./decode-run-record.ts";
export { decodeShardRecord } from "./decode-shard-record.ts";
export { decodeDeletedRun, encodeDeletedRun, type DeletedRun } from "./deleted-run.ts";
export { encodeRunRecord } from "./encode-run-record.ts";
export { encodeShardRecord } from "./encode-shard-record.ts";
