import { compareBytes, equalBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { readArray } from "../assert-shape.ts";
import { locateKey } from "../cursors/check-cursor.ts";
import { assertCursor, Cursor } from "../cursors/cursor.ts";
import { areInverted, checkShardSpec, readShardSpec, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { readSplitChild, type SplitReplaceChild } from "./split-replace-plan.ts";
import { readResidualPlan, type SplitResidualPlan } from "./split-residual-plan.ts";
import type { ShardId } from "../ids/shard-id.ts";
import type { ShardLimitScope } from "../states/shard-limit-scope.ts";

/**
 * Why a split cannot be made.
 *
 * Every field that is named for a key is its size in bytes, 0 for a missing bound. Indexes are the positions of
 * children as the caller listed them.
 */
export type SplitValidationError =
  | { readonly kind: "NoChildren" }
  | { readonly kind: "SingleChild" }
  /** The lowest child does not start where the parent does. */
  | { readonly kind: "StartMismatch"; readonly parentStart: number; readonly firstChildStart: number }
  /** The highest child does not end where the parent does. */
  | { readonly kind: "EndMismatch"; readonly parentEnd: number; readonly lastChildEnd: number }
  /** Two adjacent children leave a gap or overlap. */
  | {
      readonly kind: "BoundaryMismatch";
      readonly childIndex: number;
      readonly nextChildIndex: number;
      readonly childEnd: number;
      readonly nextChildStart: number;
    }
  /** A child's start is not below its end. */
  | { readonly kind: "InvertedChild"; readonly childIndex: number }
  /** A child has no end, although another child is above it. */
  | { readonly kind: "OverlappingChild"; readonly childIndex: number; readonly nextChildIndex: number }
  /** The range that the parent would keep does not contain its cursor. */
  | {
      readonly kind: "ParentCursorOutOfBounds";
      readonly cursor: number;
      readonly newParentStart: number;
      readonly newParentEnd: number;
    }
  /** The parent would exceed the number of shards that it may spawn. */
  | { readonly kind: "SpawnLimitExceeded"; readonly current: number; readonly additional: number; readonly max: number }
  /** The store cannot write so many children at once. */
  | { readonly kind: "BackendChildLimitExceeded"; readonly requested: number; readonly backendMax: number }
  /** A quota of shards would be exceeded. */
  | {
      readonly kind: "ShardLimitExceeded";
      readonly current: number;
      readonly additional: number;
      readonly max: number;
      readonly scope: ShardLimitScope;
    }
  /** The id derived for a child is already taken. */
  | { readonly kind: "DerivedIdCollision"; readonly derivedId: ShardId }
  /** A child's bounds or metadata are too large. */
  | { readonly kind: "InvalidChildSpec"; readonly childIndex: number }
  /**
   * A child's cursor would lose or repeat work: the lowest child must carry the parent's, and every other an initial
   * one. *Addition.*
   */
  | { readonly kind: "InvalidChildCursor"; readonly childIndex: number };

/** A plan to cut a part off a shard, and that shard as it is now. */
export interface ResidualSplit extends SplitResidualPlan {
  readonly parent: ShardSpecRef;
}

/** A child's bounds, and its position in the caller's list. */
interface ChildRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly index: number;
}

/**
 * Check that the children tile the parent: no gap, no overlap, nothing outside.
 *
 * They may come in any order, and their metadata is their own. The first broken rule decides: at least two children;
 * the ends of the whole; neighbors, by range start; inverted children; sizes. If several children break one rule, the
 * error names the child that the caller listed first. If several pairs of neighbors do not meet, it names the pair
 * whose lower position in the caller's list is smallest.
 */
export function validateSplitCoverage(
  parent: ShardSpecRef,
  children: readonly ShardSpecRef[],
): Result<void, SplitValidationError> {
  const parentSpec = readShardSpec(parent);
  return checkCoverage(parentSpec, readArray(children, "split children", readShardSpec));
}

/**
 * Check a split that cuts a part off the parent's upper end.
 *
 * The parent keeps the lower part, so its start must stay; the rest must end where the parent ended. Swapped parts
 * therefore fail with `StartMismatch`.
 */
export function validateResidualSplit(split: ResidualSplit): Result<void, SplitValidationError> {
  assertObject(split, "residual split");
  const parent = readShardSpec(split.parent);
  const { parentNewSpec, residualSpec } = readResidualPlan(split);

  const ends = checkEnds(parent, { start: parentNewSpec.keyRangeStart, end: residualSpec.keyRangeEnd });
  return ends.ok ? checkCoverage(parent, [parentNewSpec, residualSpec]) : ends;
}

/**
 * Checks that the children continue where the parent is.
 *
 * The lowest child must carry the parent's cursor, key and token, and every other an initial one. The cut must lie
 * above the cursor's key, or a child without progress would repeat the items between the two. Then no item is repeated
 * and none is skipped. Call it after `validateSplitCoverage`.
 */
export function validateChildCursors(
  parentCursor: Cursor,
  children: readonly SplitReplaceChild[],
): Result<void, SplitValidationError> {
  assertCursor(parentCursor);
  const read = readArray(children, "split children", readSplitChild);

  const lowestIndex = byStart(read.map((child) => child.spec))[0]?.index;
  for (const [childIndex, { spec, cursor }] of read.entries()) {
    const isLowest = childIndex === lowestIndex;
    const continues = Cursor.equals(cursor, isLowest ? parentCursor : Cursor.initial());
    if (!continues || (isLowest && isPassed(spec, parentCursor)))
      return err({ kind: "InvalidChildCursor", childIndex });
  }
  return ok();
}

/** Whether a cursor is at the end of a range or beyond it. */
function isPassed(spec: ShardSpecRef, { lastKey }: Cursor): boolean {
  return lastKey !== undefined && locateKey(lastKey, spec) === "AboveRange";
}

/** Ranges by start. Equal starts stay in the caller's order. */
export function byStart(specs: readonly ShardSpecRef[]): ChildRange[] {
  const ranges = specs.map((spec, index) => ({ start: spec.keyRangeStart, end: spec.keyRangeEnd, index }));
  return ranges.sort((a, b) => compareBytes(a.start, b.start));
}

function checkCoverage(parent: ShardSpecRef, children: readonly ShardSpecRef[]): Result<void, SplitValidationError> {
  if (children.length === 0) return err({ kind: "NoChildren" });
  if (children.length === 1) return err({ kind: "SingleChild" });

  const sorted = byStart(children);
  const ends = checkEnds(parent, { start: sorted[0]!.start, end: sorted.at(-1)!.end });
  if (!ends.ok) return ends;
  const neighbors = checkNeighbors(sorted);
  if (!neighbors.ok) return neighbors;
  return checkEach(children);
}

function checkEnds(
  parent: ShardSpecRef,
  whole: { readonly start: Uint8Array; readonly end: Uint8Array },
): Result<void, SplitValidationError> {
  const { keyRangeStart, keyRangeEnd } = parent;
  if (!equalBytes(whole.start, keyRangeStart)) {
    return err({ kind: "StartMismatch", parentStart: keyRangeStart.length, firstChildStart: whole.start.length });
  }
  if (!equalBytes(whole.end, keyRangeEnd)) {
    return err({ kind: "EndMismatch", parentEnd: keyRangeEnd.length, lastChildEnd: whole.end.length });
  }
  return ok();
}

function checkNeighbors(sorted: readonly ChildRange[]): Result<void, SplitValidationError> {
  const [faulty] = sorted
    .slice(1)
    .map((next, index) => ({ child: sorted[index]!, next }))
    .filter(({ child, next }) => child.end.length === 0 || !equalBytes(child.end, next.start))
    .map((pair) => ({ ...pair, listed: [pair.child.index, pair.next.index].sort((a, b) => a - b) }))
    .sort((a, b) => a.listed[0]! - b.listed[0]! || a.listed[1]! - b.listed[1]!);
  if (faulty === undefined) return ok();

  const { child, next } = faulty;
  const indexes = { childIndex: child.index, nextChildIndex: next.index };
  // If both are empty they are equal, and still no boundary: the child has no end, and the next has no start.
  if (equalBytes(child.end, next.start)) return err({ kind: "OverlappingChild", ...indexes });
  const sizes = { childEnd: child.end.length, nextChildStart: next.start.length };
  return err({ kind: "BoundaryMismatch", ...indexes, ...sizes });
}

function checkEach(children: readonly ShardSpecRef[]): Result<void, SplitValidationError> {
  const inverted = children.findIndex((child) => areInverted(child.keyRangeStart, child.keyRangeEnd));
  if (inverted >= 0) return err({ kind: "InvertedChild", childIndex: inverted });
  const invalid = children.findIndex((child) => !checkShardSpec(child).ok);
  if (invalid >= 0) return err({ kind: "InvalidChildSpec", childIndex: invalid });
  return ok();
}
