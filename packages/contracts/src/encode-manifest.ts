import type { CanonicalWriter } from "./canonical-writer.ts";
import { readArray } from "./assert-shape.ts";
import { assertWriter, encodeCursorInto, encodeShardSpecInto } from "./encode-canonical.ts";
import { readInitialShard, type InitialShardInput } from "./manifest.ts";

/**
 * The number of shards, then id, spec and cursor of each, by id.
 *
 * Sorted, because a retry that lists the shards in another order registers the same.
 */
export function encodeManifestInto(manifest: readonly InitialShardInput[], out: CanonicalWriter): void {
  const shards = readArray(manifest, "manifest", readInitialShard);
  assertWriter(out);
  shards.sort((a, b) => (a.shard < b.shard ? -1 : Number(a.shard > b.shard)));
  out.u32(shards.length);
  for (const { shard, spec, cursor } of shards) {
    out.u64(shard);
    encodeShardSpecInto(spec, out);
    encodeCursorInto(cursor, out);
  }
}
