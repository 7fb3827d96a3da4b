import type { RangeInput, ShardId } from "@gossip/contracts";
import { keySuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { WorkEstimate } from "@gossip/worker";
import { expectItems } from "./expected-items.ts";

/** What the estimator needs to know about a shard. */
export interface ShardWork {
  /** The initial shard that it descends from. */
  readonly root: ShardId;
  readonly range: RangeInput;
  /** The last key that is done. */
  readonly lastKey: Uint8Array | undefined;
  readonly status: "Active" | "Done" | "Parked";
  /** Items done, including failed ones. */
  readonly items: number;
}

/** A shard with what the source expects in it. */
export interface ExpectedShard extends ShardWork {
  /** In all of it. */
  readonly expected: number;
  /** In what is left, by the position of the cursor. */
  readonly expectedLeft: number;
  /** Whether the source knows all of it. */
  readonly isCovered: boolean;
  /** The parts of what is left that the source knows nothing about. */
  readonly gaps: readonly RangeInput[];
}

export function expectShard(shard: ShardWork, { spans }: WorkEstimate): ExpectedShard {
  const whole = expectItems(spans, shard.range);
  const left = rangeLeft(shard);
  const rest = left === undefined ? { items: 0, gaps: [] } : expectItems(spans, left);
  const isCovered = whole.gaps.length === 0;
  return { ...shard, expected: whole.items, expectedLeft: rest.items, isCovered, gaps: rest.gaps };
}

/** What of a shard is not done. */
function rangeLeft({ status, range, lastKey }: ShardWork): RangeInput | undefined {
  if (status === "Done") return undefined;
  const start = lastKey === undefined ? range.start : keySuccessor(lastKey);
  if (start === undefined) return undefined;
  return range.end.length === 0 || compareBytes(start, range.end) < 0 ? { start, end: range.end } : undefined;
}
