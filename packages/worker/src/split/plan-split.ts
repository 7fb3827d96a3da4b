import type { Cursor, ShardSpecRef, SplitResidualPlan } from "@gossip/contracts";
import { alignSplitPoints, decodeHint, planHintedSplitResidual } from "@gossip/frontier";

/** A plan to split a shard at or right above `point`, or `undefined` if it cannot be split there. */
export function planSplit(spec: ShardSpecRef, cursor: Cursor, point: Uint8Array): SplitResidualPlan | undefined {
  const hint = decodeHint(spec);
  if (!hint.ok) return undefined;
  const [aligned] = alignSplitPoints(hint.value, [point]);
  const plan = aligned && planHintedSplitResidual(spec, cursor, aligned);
  return plan?.ok === true ? plan.value : undefined;
}
