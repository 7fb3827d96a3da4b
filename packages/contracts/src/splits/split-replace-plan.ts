import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray, readArray } from "../assert-shape.ts";
import { assertCursor, Cursor, readCursorJson, type CursorJson } from "../cursors/cursor.ts";
import { invalidField, JsonReader, type InvalidField } from "../json/json-reader.ts";
import { MAX_SPLIT_CHILDREN } from "../limits.ts";
import { copyShardSpec, readShardSpec, readShardSpecJson, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec, type ShardSpecJson } from "../specs/shard-spec.ts";

/** One of the shards that will take a parent's place. */
export interface SplitReplaceChild {
  readonly spec: ShardSpecRef;
  readonly cursor: Cursor;
}

/**
 * A proposal to replace a shard by 2 to 256 children, in the caller's order.
 *
 * A plan owns its bytes. It does not contain its parent: the planner checks that the children tile it, and so does
 * execution.
 */
export interface SplitReplacePlan {
  readonly children: readonly SplitReplaceChild[];
}

/** Why children are not a plan. `count` is 257 for any number above 256. */
export type SplitReplacePlanError =
  | { readonly kind: "TooFewChildren"; readonly count: number }
  | { readonly kind: "TooManyChildren"; readonly count: number };

/** A plan in JSON. */
export interface SplitReplacePlanJson {
  readonly children: readonly { readonly spec: ShardSpecJson; readonly cursor: CursorJson }[];
}

export const SplitReplacePlan = {
  /** Check the number of children, and copy them. */
  tryNew(children: readonly SplitReplaceChild[]): Result<SplitReplacePlan, SplitReplacePlanError> {
    const counted = checkChildCount(assertArray(children, "split children").length);
    return counted.ok ? ok(freezeReplacePlan(readArray(children, "split children", readSplitChild))) : counted;
  },

  toJson(plan: SplitReplacePlan): SplitReplacePlanJson {
    const children = readReplacePlan(plan);
    return {
      children: children.map(({ spec, cursor }) => ({ spec: ShardSpec.toJson(spec), cursor: Cursor.toJson(cursor) })),
    };
  },

  fromJson(json: unknown): Result<SplitReplacePlan, InvalidField> {
    const plan = readPlanJson(json, "");
    if (!plan.ok) return plan;
    const { children } = plan.value;
    if (!checkChildCount(children.length).ok) return invalidField("children", `2 to ${MAX_SPLIT_CHILDREN} children`);
    return ok(freezeReplacePlan(children));
  },
} as const;

const readPlanJson = /* @__PURE__ */ JsonReader.object<SplitReplacePlan>({
  children: JsonReader.array(JsonReader.object<SplitReplaceChild>({ spec: readShardSpecJson, cursor: readCursorJson })),
});

/** Check a number of children before any of them is built. */
export function checkChildCount(count: number): Result<void, SplitReplacePlanError> {
  if (count > MAX_SPLIT_CHILDREN) return err({ kind: "TooManyChildren", count: MAX_SPLIT_CHILDREN + 1 });
  if (count < 2) return err({ kind: "TooFewChildren", count });
  return ok();
}

/** Copy children that `readSplitChild` returned and whose number was checked. */
export function freezeReplacePlan(children: readonly SplitReplaceChild[]): SplitReplacePlan {
  const owned = children.map(({ spec, cursor }) => Object.freeze({ spec: copyShardSpec(spec), cursor }));
  return Object.freeze({ children: Object.freeze(owned) });
}

/** Read each field of a child once, and throw unless it is one. */
export function readSplitChild(child: unknown): SplitReplaceChild {
  assertObject(child, "split child");
  const { spec, cursor } = child as SplitReplaceChild;
  assertCursor(cursor);
  return { spec: readShardSpec(spec), cursor };
}

/** Returns the children of a plan. Throws if it is malformed. */
export function readReplacePlan(plan: unknown): SplitReplaceChild[] {
  assertObject(plan, "split-replace plan");
  return readArray((plan as SplitReplacePlan).children, "split children", readSplitChild);
}
