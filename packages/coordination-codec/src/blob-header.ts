import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import { CODEC_VERSION, KINDS_BY_VERSION, type BlobKind, type CodecVersion } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { HEADER_SIZE } from "./limits.ts";

/** The version and kind of a blob, from its first bytes. */
export interface BlobHeader {
  readonly version: CodecVersion;
  readonly kind: BlobKind;
}

const LETTER_V = 0x76;
const DIGIT_ZERO = 0x30;

/**
 * Reads the header of a blob, and nothing else.
 *
 * For keys that may hold one of several kinds, and for counting versions. The rest of the blob may still be damaged.
 */
export function decodeBlobHeader(bytes: Uint8Array): Result<BlobHeader, CodecError> {
  assertBytes(bytes, "blob");
  return headerAt(bytes, 0, bytes.length);
}

/** The header of the blob from `start` up to `end`. */
export function headerAt(bytes: Uint8Array, start: number, end: number): Result<BlobHeader, CodecError> {
  if (end - start < HEADER_SIZE) return err({ kind: "Truncated", needed: HEADER_SIZE, remaining: end - start });
  const version = bytes[start + 1]! - DIGIT_ZERO;
  if (bytes[start] !== LETTER_V || version < 1 || version > 9) return err({ kind: "InvalidVersionPrefix" });
  if (version > CODEC_VERSION) return err({ kind: "NewerVersion", version, newest: CODEC_VERSION });
  const code = bytes[start + 2]!;
  const kind = KINDS_BY_VERSION[version as CodecVersion][code];
  return kind === undefined
    ? err({ kind: "InvalidBlobKind", actual: code })
    : ok({ version: version as CodecVersion, kind });
}
