import { assertBytes, compareBytes, err, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertCursor, type Cursor } from "../cursors/cursor.ts";
import { keySuccessor } from "../key-successor.ts";
import { firstPointBehind, type SplitPointBehindCursor } from "./plan-split-replace.ts";
import { readShardSpec, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { SplitResidualPlan, type SplitResidualPlanError } from "./split-residual-plan.ts";
import { validateResidualSplit, type ResidualSplit, type SplitValidationError } from "./validate-split.ts";

/** Why a residual split could not be planned. Fields named for keys hold sizes in bytes. */
export type SplitResidualPlanningError =
  /** The shard has no progress yet, so there is no key to split after. */
  | { readonly kind: "MissingCursor" }
  /** No key of the allowed size lies above the cursor's. */
  | { readonly kind: "NoSuccessor" }
  | {
      readonly kind: "SplitPointOutOfBounds";
      readonly splitPoint: number;
      readonly parentStart: number;
      readonly parentEnd: number;
    }
  | { readonly kind: "InvalidPlan"; readonly reason: SplitResidualPlanError }
  | { readonly kind: "InvalidCoverage"; readonly reason: SplitValidationError }
  | SplitPointBehindCursor;

/** Plan a split into the two given parts: they must differ, then they must tile the parent. */
export function planSplitResidual(split: ResidualSplit): Result<SplitResidualPlan, SplitResidualPlanningError> {
  assertObject(split, "residual split");
  const parent = readShardSpec(split.parent);
  const plan = SplitResidualPlan.tryNew(split);
  if (!plan.ok) return err({ kind: "InvalidPlan", reason: plan.error });
  const covered = validateResidualSplit({ parent, ...plan.value });
  return covered.ok ? plan : err({ kind: "InvalidCoverage", reason: covered.error });
}

/**
 * Plan to cut `parent` at `point`: it keeps what is below, a new shard gets the rest.
 *
 * The point must lie inside the range and above the cursor's key, so that the cursor stays with the parent. Both parts
 * get a copy of the parent's metadata.
 */
export function planSplitResidualAtPoint(
  parent: ShardSpecRef,
  cursor: Cursor,
  point: Uint8Array,
): Result<SplitResidualPlan, SplitResidualPlanningError> {
  const parentSpec = readShardSpec(parent);
  assertCursor(cursor);
  assertBytes(point, "split point");

  const { keyRangeStart, keyRangeEnd, metadata } = parentSpec;
  const planned = planSplitResidual({
    parent: parentSpec,
    parentNewSpec: { keyRangeStart, keyRangeEnd: point, metadata },
    residualSpec: { keyRangeStart: point, keyRangeEnd, metadata },
  });
  if (!planned.ok) return planned;
  return firstPointBehind(cursor, [point]) ?? planned;
}

/**
 * Plan to keep what is done and give away everything that is not: the cut is right behind the cursor's key. The parent
 * may have no upper bound.
 */
export function planSplitResidualFromCursor(
  parent: ShardSpecRef,
  cursor: Cursor,
): Result<SplitResidualPlan, SplitResidualPlanningError> {
  const parentSpec = readShardSpec(parent);
  assertCursor(cursor);
  if (cursor.lastKey === undefined) return err({ kind: "MissingCursor" });
  const point = keySuccessor(cursor.lastKey);
  if (point === undefined) return err({ kind: "NoSuccessor" });

  const { keyRangeStart, keyRangeEnd } = parentSpec;
  const isAboveStart = compareBytes(point, keyRangeStart) > 0;
  const isBelowEnd = keyRangeEnd.length === 0 || compareBytes(point, keyRangeEnd) < 0;
  if (!isAboveStart || !isBelowEnd) {
    return err({
      kind: "SplitPointOutOfBounds",
      splitPoint: point.length,
      parentStart: keyRangeStart.length,
      parentEnd: keyRangeEnd.length,
    });
  }
  return planSplitResidualAtPoint(parentSpec, cursor, point);
}
