import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import { CODEC_VERSION, KINDS_BY_VERSION, type BlobKind, type CodecVersion } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { crc32c } from "./crc32c.ts";
import { CHECKSUM_SIZE, HEADER_SIZE } from "./limits.ts";
import { FieldReader } from "./field-reader.ts";

/** What the first bytes of a blob say of the rest. */
export interface BlobHeader {
  readonly version: CodecVersion;
  readonly kind: BlobKind;
}

const LETTER_V = 0x76;
const DIGIT_ZERO = 0x30;

/**
 * Tell what a blob holds, without reading it.
 *
 * For places that may hold one of several, such as a run's, and for counting versions.
 * The rest of the blob may still be damaged.
 */
export function decodeBlobHeader(bytes: Uint8Array): Result<BlobHeader, CodecError> {
  assertBytes(bytes, "blob");
  if (bytes.length < HEADER_SIZE) return err({ kind: "Truncated", needed: HEADER_SIZE, remaining: bytes.length });
  const version = bytes[1]! - DIGIT_ZERO;
  if (bytes[0] !== LETTER_V || version < 1 || version > 9) return err({ kind: "InvalidVersionPrefix" });
  if (!isKnown(version)) return err({ kind: "NewerVersion", version, newest: CODEC_VERSION });
  const kind = KINDS_BY_VERSION[version][bytes[2]!];
  if (kind === undefined) return err({ kind: "InvalidBlobKind", actual: bytes[2]! });
  return ok({ version, kind });
}

/** A blob that is what it was when it was written, as far as its version can tell, and is at its first field. */
export interface OpenBlob {
  readonly version: CodecVersion;
  readonly fields: FieldReader;
}

/** Check header and checksum of a blob that should be of a kind. */
export function openBlob(bytes: Uint8Array, expected: BlobKind): Result<OpenBlob, CodecError> {
  const header = decodeBlobHeader(bytes);
  if (!header.ok) return header;
  const { version, kind } = header.value;
  if (kind !== expected) return err({ kind: "UnexpectedBlobKind", expected, actual: kind });

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - (version === 1 ? 0 : CHECKSUM_SIZE);
  if (end < HEADER_SIZE) return err({ kind: "Truncated", needed: CHECKSUM_SIZE, remaining: bytes.length - HEADER_SIZE });
  if (version > 1 && view.getInt32(end, true) !== crc32c(view, 0, end)) return err({ kind: "ChecksumMismatch", size: bytes.length });
  return ok({ version, fields: new FieldReader(view, { start: HEADER_SIZE, end }) });
}

function isKnown(version: number): version is CodecVersion {
  return version >= 1 && version <= CODEC_VERSION;
}
