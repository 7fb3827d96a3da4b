import { assertBytes, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertArray, readArray } from "../assert-shape.ts";
import { assertCursor, Cursor } from "../cursors/cursor.ts";
import { readShardSpec, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import {
  checkChildCount,
  freezeReplacePlan,
  readSplitChild,
  type SplitReplaceChild,
  type SplitReplacePlan,
  type SplitReplacePlanError,
} from "./split-replace-plan.ts";
import { validateSplitCoverage, type SplitValidationError } from "./validate-split.ts";

/** Why a split-replace could not be planned. */
export type SplitReplacePlanningError =
  | { readonly kind: "InvalidChildCount"; readonly reason: SplitReplacePlanError }
  | { readonly kind: "InvalidCoverage"; readonly reason: SplitValidationError }
  | SplitPointBehindCursor;

/** A split point does not lie above the parent's last key: the cursor would be in the wrong child. *Addition.* */
export interface SplitPointBehindCursor {
  readonly kind: "SplitPointBehindCursor";
  readonly pointIndex: number;
}

/**
 * Plans to replace `parent` by these children. Checks their number, then their coverage.
 *
 * It does not check cursors. Execution accepts only the parent's cursor on the lowest child and initial ones elsewhere;
 * `planSplitReplaceAtPoints` makes them so.
 */
export function planSplitReplace(
  parent: ShardSpecRef,
  children: readonly SplitReplaceChild[],
): Result<SplitReplacePlan, SplitReplacePlanningError> {
  const parentSpec = readShardSpec(parent);
  const counted = checkChildCount(assertArray(children, "split children").length);
  if (!counted.ok) return err({ kind: "InvalidChildCount", reason: counted.error });

  return planCovered(parentSpec, readArray(children, "split children", readSplitChild));
}

/**
 * Plan to cut `parent` at `points`, carrying its progress along.
 *
 * The points must be in order, inside the range and above the cursor's key. The first child gets the cursor, the others
 * start fresh, and each gets a copy of the parent's metadata. Checked in this order: how many, coverage, the cursor.
 */
export function planSplitReplaceAtPoints(
  parent: ShardSpecRef,
  cursor: Cursor,
  points: readonly Uint8Array[],
): Result<SplitReplacePlan, SplitReplacePlanningError> {
  const parentSpec = readShardSpec(parent);
  assertCursor(cursor);
  const counted = checkChildCount(assertArray(points, "split points").length + 1);
  if (!counted.ok) return err({ kind: "InvalidChildCount", reason: counted.error });
  const cuts = readArray(points, "split points", readSplitPoint);

  const planned = planCovered(parentSpec, cutAt(parentSpec, cursor, cuts));
  if (!planned.ok) return planned;
  return firstPointBehind(cursor, cuts) ?? planned;
}

/** The error for the first point that does not lie above the cursor's key, if there is one. */
export function firstPointBehind(
  { lastKey }: Cursor,
  points: readonly Uint8Array[],
): Result<never, SplitPointBehindCursor> | undefined {
  if (lastKey === undefined) return undefined;
  const pointIndex = points.findIndex((point) => compareBytes(point, lastKey) <= 0);
  return pointIndex < 0 ? undefined : err({ kind: "SplitPointBehindCursor", pointIndex });
}

function readSplitPoint(point: unknown): Uint8Array {
  assertBytes(point, "split point");
  return point;
}

function planCovered(
  parent: ShardSpecRef,
  children: readonly SplitReplaceChild[],
): Result<SplitReplacePlan, SplitReplacePlanningError> {
  const specs = children.map((child) => child.spec);
  const covered = validateSplitCoverage(parent, specs);
  return covered.ok ? ok(freezeReplacePlan(children)) : err({ kind: "InvalidCoverage", reason: covered.error });
}

function cutAt(parent: ShardSpecRef, cursor: Cursor, points: readonly Uint8Array[]): SplitReplaceChild[] {
  const { keyRangeStart, keyRangeEnd, metadata } = parent;
  const starts = [keyRangeStart, ...points];
  const ends = [...points, keyRangeEnd];
  return starts.map((start, index) => ({
    spec: { keyRangeStart: start, keyRangeEnd: ends[index]!, metadata },
    cursor: index === 0 ? cursor : Cursor.initial(),
  }));
}
