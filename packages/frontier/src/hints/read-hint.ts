import { jsonError } from "@gossip/contracts/internal";
import type { ManifestRow } from "../keys/manifest-id.ts";
import type { ShardHintDecodeError } from "./hint-error.ts";
import { compareU64, readU32, readU64 } from "../keys/u64-bytes.ts";

/** The first byte of an encoded hint. New kinds of hint get new tags; a tag's meaning never changes. */
export const TAG_RANGE = 0x00;
export const TAG_PREFIX = 0x01;
export const TAG_MANIFEST = 0x02;
/** The kind of each tag. */
export const HINT_KINDS = ["Range", "Prefix", "Manifest"] as const;

/** Tag, and how long the prefix is. */
export const PREFIX_HEADER_SIZE = 5;
/** Tag, manifest id, first row, row behind the last. */
export const MANIFEST_HINT_SIZE = 25;

/**
 * The size of the hint at `start` in bytes, or why there is none before `end`.
 *
 * A number, so that accepting a hint allocates nothing; a caller that needs its parts reads them from where they are.
 */
export function readHint(bytes: Uint8Array, start: number, end: number): number | ShardHintDecodeError {
  const actual = end - start;
  if (actual === 0) return { kind: "EmptyData" };
  const tag = bytes[start]!;
  switch (tag) {
    case TAG_RANGE:
      return 1;
    case TAG_PREFIX: {
      if (actual < PREFIX_HEADER_SIZE) return { kind: "TruncatedPrefix", expectedMin: PREFIX_HEADER_SIZE, actual };
      const size = PREFIX_HEADER_SIZE + readU32(bytes, start + 1);
      return actual < size ? { kind: "TruncatedPrefix", expectedMin: size, actual } : size;
    }
    case TAG_MANIFEST: {
      if (actual < MANIFEST_HINT_SIZE) return { kind: "TruncatedManifest", expectedMin: MANIFEST_HINT_SIZE, actual };
      if (compareU64(bytes, start + 9, start + 17) < 0) return MANIFEST_HINT_SIZE;
      return jsonError({
        kind: "InvertedManifestRows",
        startRow: readU64(bytes, start + 9) as ManifestRow,
        endRow: readU64(bytes, start + 17) as ManifestRow,
      });
    }
    default:
      return { kind: "UnknownTag", tag };
  }
}
