import { type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";

/**
 * What a blob holds.
 *
 * `Owner` is of version 1: there the holder of a shard had a blob of its own. It is
 * known by name, so that it is told apart from damage, and is not read.
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

/** What a blob of each version holds, by its number. */
export const KINDS_BY_VERSION: Readonly<Record<CodecVersion, readonly (BlobKind | undefined)[]>> = {
  1: [undefined, "Run", "Shard", "Owner"],
  2: [undefined, "Run", "Shard", undefined, "DeletedRun"],
};
