import type { RunId, ShardId } from "@gossip/contracts";
import { HALVES, LOW, WHOLE } from "@gossip/stdx/internal";

/** Shards that are written to at the same time and whose places do not fall together. A power of two. */
export const PLACE_COUNT = 512;

/** Odd, so that the shards of two runs, which are mostly numbered alike, have different places. */
const RUN_STEP = 61;

/** The place of a shard in a table that keeps what was encoded of it last: by the lower bits of its id. */
export function placeOf(run: RunId, shard: ShardId): number {
  WHOLE[0] = run;
  const ofRun = Math.imul(HALVES[LOW]!, RUN_STEP);
  WHOLE[0] = shard;
  return (ofRun + HALVES[LOW]!) & (PLACE_COUNT - 1);
}
