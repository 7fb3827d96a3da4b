import { MAX_INITIAL_SHARDS, type RangeInput, type ShardSpec } from "@gossip/contracts";
import { rangeShard } from "@gossip/frontier";
import { assert, assertCount, unwrap } from "@gossip/stdx";
import type { PlanRequest } from "./source.ts";

/** The shards between the bounds of a range and the ascending points inside it. */
export function shardsBetween(range: RangeInput, points: readonly Uint8Array[]): readonly ShardSpec[] {
  return rangesBetween(range, points).map((part) => unwrap(rangeShard(part)));
}

/** The ranges between the bounds of a range and the ascending points inside it. */
export function rangesBetween({ start, end }: RangeInput, points: readonly Uint8Array[]): readonly RangeInput[] {
  const bounds = [start, ...points, end];
  return bounds.slice(1).map((bound, index) => ({ start: bounds[index]!, end: bound }));
}

export function assertPlanRequest(request: PlanRequest): void {
  assert(typeof request === "object" && request !== null, "a plan request must be an object with shardCount");
  assertCount(request.shardCount, "shardCount", { min: 1, max: MAX_INITIAL_SHARDS });
}
