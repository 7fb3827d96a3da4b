import type { CanonicalWriter } from "./canonical-writer.ts";
import { assertWriter, encodeCursorInto, encodeShardSpecInto } from "./encode-canonical.ts";
import { readReplacePlan, type SplitReplacePlan } from "../splits/split-replace-plan.ts";
import { readResidualPlan, type SplitResidualPlan } from "../splits/split-residual-plan.ts";
import { byStart } from "../splits/validate-split.ts";

/**
 * The number of children, then spec and cursor of each, by range start.
 *
 * Sorted, because a retry that lists the children in another order asks for the
 * same split. Children with equal starts, which no valid plan has, stay as listed.
 */
export function encodeSplitReplacePlanInto(plan: SplitReplacePlan, out: CanonicalWriter): void {
  const children = readReplacePlan(plan);
  assertWriter(out);
  out.u32(children.length);
  for (const { index } of byStart(children.map((child) => child.spec))) {
    const { spec, cursor } = children[index]!;
    encodeShardSpecInto(spec, out);
    encodeCursorInto(cursor, out);
  }
}

/** The parent's new spec, then the residual's. */
export function encodeSplitResidualPlanInto(plan: SplitResidualPlan, out: CanonicalWriter): void {
  const { parentNewSpec, residualSpec } = readResidualPlan(plan);
  assertWriter(out);
  encodeShardSpecInto(parentNewSpec, out);
  encodeShardSpecInto(residualSpec, out);
}
