import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { invalidField, JsonReader, type InvalidField } from "../json/json-reader.ts";
import { copyShardSpec, readShardSpec, readShardSpecJson, type ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec, type ShardSpecJson } from "../specs/shard-spec.ts";

/**
 * A proposal to cut a part off a shard's upper end.
 *
 * The shard lives on with `parentNewSpec`, its lease and its cursor; a new shard takes `residualSpec`. A plan owns its
 * bytes. The planner checks that the two tile the shard, and so does execution.
 */
export interface SplitResidualPlan {
  readonly parentNewSpec: ShardSpecRef;
  readonly residualSpec: ShardSpecRef;
}

/** Why two specs are not a plan. */
export interface SplitResidualPlanError {
  readonly kind: "IdenticalSpecs";
}

/** A plan in JSON. */
export interface SplitResidualPlanJson {
  readonly parentNewSpec: ShardSpecJson;
  readonly residualSpec: ShardSpecJson;
}

export const SplitResidualPlan = {
  /** Check that the specs differ, and copy them. */
  tryNew(specs: SplitResidualPlan): Result<SplitResidualPlan, SplitResidualPlanError> {
    const { parentNewSpec, residualSpec } = readResidualPlan(specs);
    if (ShardSpec.equals(parentNewSpec, residualSpec)) return err({ kind: "IdenticalSpecs" });
    return ok(
      Object.freeze({ parentNewSpec: copyShardSpec(parentNewSpec), residualSpec: copyShardSpec(residualSpec) }),
    );
  },

  toJson(plan: SplitResidualPlan): SplitResidualPlanJson {
    const { parentNewSpec, residualSpec } = readResidualPlan(plan);
    return { parentNewSpec: ShardSpec.toJson(parentNewSpec), residualSpec: ShardSpec.toJson(residualSpec) };
  },

  fromJson(json: unknown): Result<SplitResidualPlan, InvalidField> {
    const specs = readPlanJson(json, "");
    if (!specs.ok) return specs;
    const plan = SplitResidualPlan.tryNew(specs.value);
    return plan.ok ? plan : invalidField("residualSpec", "a spec other than parentNewSpec");
  },
} as const;

const readPlanJson = /* @__PURE__ */ JsonReader.object<SplitResidualPlan>({
  parentNewSpec: readShardSpecJson,
  residualSpec: readShardSpecJson,
});

/** Read both specs of a plan once, and throw unless it is one. */
export function readResidualPlan(plan: unknown): SplitResidualPlan {
  assertObject(plan, "split-residual plan");
  const { parentNewSpec, residualSpec } = plan as SplitResidualPlan;
  return { parentNewSpec: readShardSpec(parentNewSpec), residualSpec: readShardSpec(residualSpec) };
}
