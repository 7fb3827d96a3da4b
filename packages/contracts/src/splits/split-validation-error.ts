import type { ShardId } from "../ids/shard-id.ts";
import type { ShardLimitScope } from "../states/shard-limit-scope.ts";

/**
 * Why a split cannot be made.
 *
 * Every field that is named for a key is its size in bytes, 0 for a missing bound. Indexes are the positions of children as the caller listed them.
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
   * A child's cursor would lose or repeat work: the lowest child must carry the
   * parent's, and every other an initial one. *Addition.*
   */
  | { readonly kind: "InvalidChildCursor"; readonly childIndex: number };
