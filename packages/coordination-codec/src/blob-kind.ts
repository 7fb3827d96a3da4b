import { type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";

/**
 * The kind of a blob.
 *
 * `Owner` exists in version 1 only, where the holder of a shard had a blob of its own. It is known by name, to
 * distinguish it from damage, and is never decoded.
 */
export type BlobKind = "Run" | "Shard" | "Owner" | "DeletedRun";

export const BlobKind: PersistedEnum<BlobKind> = /* @__PURE__ */ persistedEnum({
  Run: 1,
  Shard: 2,
  Owner: 3,
  DeletedRun: 4,
});

/** The versions that can be read. Only the last is written. */
export type CodecVersion = 1 | 2;

/** The version that is written. */
export const CODEC_VERSION = 2 satisfies CodecVersion;

/** The kinds of each version, by code. */
export const KINDS_BY_VERSION: Readonly<Record<CodecVersion, readonly (BlobKind | undefined)[]>> = {
  1: [undefined, "Run", "Shard", "Owner"],
  2: [undefined, "Run", "Shard", undefined, "DeletedRun"],
};
