import {
  type Cursor,
  planSplitReplaceAtPoints,
  planSplitResidualAtPoint,
  SplitReplacePlan,
  SplitResidualPlan,
  type ShardSpecRef,
  type SplitReplacePlanningError,
  type SplitResidualPlanningError,
} from "@gossip/contracts";
import { err, ok, unwrap, type Result } from "@gossip/stdx";
import { decodeMetadata } from "../hints/decode-metadata.ts";
import type { HintPropagationError, ShardMetadataDecodeError } from "../hints/hint-error.ts";
import { propagateHintOnSplit } from "../hints/propagate-hint.ts";
import { ShardMetadata } from "../hints/shard-metadata.ts";

/** Why the children of a split have no hint, although the split itself was planned. *Addition.* */
export type HintedSplitError =
  /** The parent's metadata holds no hint to hand on. */
  | { readonly kind: "ParentMetadataInvalid"; readonly reason: ShardMetadataDecodeError }
  /** The child at this position does not fit the parent's hint. A residual split's parent is 0, its residual 1. */
  | { readonly kind: "ChildHintInvalid"; readonly childIndex: number; readonly reason: HintPropagationError };

// Planners of `@gossip/contracts` copy the parent's metadata to every child, because they cannot read it: a child of
// manifest rows 0 to 100 would still claim all hundred. These plan the same splits and give each child its own hint.
// The connector's bytes are copied as they are.

/**
 * Plan to cut `parent` at `points`, each child with its own hint. *Addition.*
 *
 * What `planSplitReplaceAtPoints` refuses is refused first. For a manifest the points must be keys of its rows: see
 * `alignSplitPoints`.
 */
export function planHintedSplitReplace(
  parent: ShardSpecRef,
  cursor: Cursor,
  points: readonly Uint8Array[],
): Result<SplitReplacePlan, SplitReplacePlanningError | HintedSplitError> {
  const plan = planSplitReplaceAtPoints(parent, cursor, points);
  if (!plan.ok) return plan;
  const { children } = plan.value;
  const childSpecs = children.map((child) => child.spec);
  const specs = giveHints(parent, childSpecs);
  if (!specs.ok) return specs;
  // Only metadata has changed, and none of it has grown: what was checked still holds.
  const hinted = specs.value.map((spec, index) => ({ spec, cursor: children[index]!.cursor }));
  return ok(unwrap(SplitReplacePlan.tryNew(hinted)));
}

/**
 * Plan to cut `parent` in two at `point`, each part with its own hint. *Addition.*
 *
 * What `planSplitResidualAtPoint` refuses is refused first.
 */
export function planHintedSplitResidual(
  parent: ShardSpecRef,
  cursor: Cursor,
  point: Uint8Array,
): Result<SplitResidualPlan, SplitResidualPlanningError | HintedSplitError> {
  const plan = planSplitResidualAtPoint(parent, cursor, point);
  if (!plan.ok) return plan;
  const specs = giveHints(parent, [plan.value.parentNewSpec, plan.value.residualSpec]);
  if (!specs.ok) return specs;
  const [parentNewSpec, residualSpec] = specs.value;
  return ok(unwrap(SplitResidualPlan.tryNew({ parentNewSpec: parentNewSpec!, residualSpec: residualSpec! })));
}

/** The children with their own hints. */
function giveHints(
  parent: ShardSpecRef,
  children: readonly ShardSpecRef[],
): Result<readonly ShardSpecRef[], HintedSplitError> {
  const decoded = decodeMetadata(parent);
  if (!decoded.ok) return err({ kind: "ParentMetadataInvalid", reason: decoded.error });
  const { hint, connectorExtra } = decoded.value;
  // A range hint fits every part of a range. The bytes stay as they are, even if there are none.
  if (hint.kind === "Range") return ok(children);

  const hinted: ShardSpecRef[] = [];
  for (const [childIndex, { keyRangeStart, keyRangeEnd }] of children.entries()) {
    const childHint = propagateHintOnSplit(hint, { childStart: keyRangeStart, childEnd: keyRangeEnd });
    if (!childHint.ok) return err({ kind: "ChildHintInvalid", childIndex, reason: childHint.error });
    // Never larger than the parent's, so it fits.
    const metadata = unwrap(ShardMetadata.encode({ hint: childHint.value, connectorExtra }));
    hinted.push({ keyRangeStart, keyRangeEnd, metadata });
  }
  return ok(hinted);
}
