import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import { CODEC_VERSION, KINDS_BY_VERSION, type BlobKind, type CodecVersion } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { HEADER_SIZE } from "./limits.ts";

/** What the first bytes of a blob say of the rest. */
export interface BlobHeader {
  readonly version: CodecVersion;
  readonly kind: BlobKind;
}

const LETTER_V = 0x76;
const DIGIT_ZERO = 0x30;

/** The headers that there are, by version and by the number of the kind: there are few, and every decoding asks for one. */
const HEADERS: Readonly<Record<CodecVersion, readonly (Result<BlobHeader, never> | undefined)[]>> = {
  1: /* @__PURE__ */ headersOf(1),
  2: /* @__PURE__ */ headersOf(2),
};

function headersOf(version: CodecVersion): readonly (Result<BlobHeader, never> | undefined)[] {
  return KINDS_BY_VERSION[version].map((kind) => kind && Object.freeze(ok(Object.freeze({ version, kind }))));
}

/**
 * Tell what a blob holds, without reading it.
 *
 * For places that may hold one of several, such as a run's, and for counting versions.
 * The rest of the blob may still be damaged.
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
  if (!isKnown(version)) return err({ kind: "NewerVersion", version, newest: CODEC_VERSION });
  const kind = bytes[start + 2]!;
  return HEADERS[version][kind] ?? err({ kind: "InvalidBlobKind", actual: kind });
}

function isKnown(version: number): version is CodecVersion {
  return version >= 1 && version <= CODEC_VERSION;
}
