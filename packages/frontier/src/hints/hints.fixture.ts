import fc from "fast-check";
import { denseKey, u64 } from "../keys.fixture.ts";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import type { ManifestHint, ShardHint } from "./shard-hint.ts";
import type { ShardMetadata } from "./shard-metadata.ts";

/** A manifest hint, right or wrong: nothing is checked here. */
export function manifestHint(manifestId: bigint, startRow: bigint, endRow: bigint): ManifestHint {
  return { kind: "Manifest", ...manifestRange(manifestId, startRow, endRow) };
}

/** Rows of a manifest, right or wrong. */
export function manifestRange(manifestId: bigint, startRow: bigint, endRow: bigint): Omit<ManifestHint, "kind"> {
  return { manifestId: manifestId as ManifestId, startRow: startRow as ManifestRow, endRow: endRow as ManifestRow };
}

/** Hints that have an encoding. */
export const anyHint: fc.Arbitrary<ShardHint> = fc.oneof(
  fc.constant({ kind: "Range" } as const),
  denseKey({ max: 12 }).map((prefix) => ({ kind: "Prefix", prefix }) as const),
  fc
    .tuple(u64, u64, u64)
    .filter(([, a, b]) => a !== b)
    .map(([id, a, b]) => (a < b ? manifestHint(id, a, b) : manifestHint(id, b, a))),
);

/** Metadata that has an encoding. */
export const anyMetadata: fc.Arbitrary<ShardMetadata> = fc.record({
  hint: anyHint,
  connectorExtra: denseKey({ max: 6 }),
});
