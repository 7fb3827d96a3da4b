import { Cursor, ShardSpec, SplitReplacePlan, SplitResidualPlan } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { keyBetween, keysBetween } from "../key-space.ts";
import type { Random } from "../random.ts";
import { rejected, type SimEvent } from "../sim-event.ts";
import type { HeldShard, SimWorker } from "../sim-worker.ts";
import { askLogged, callsOf, request, takeRefusal, type OpRun } from "./ask.ts";

const MANY_CHILDREN_PPM = 50_000;

/** Bytes that only a connector understands. */
export function drawMetadata(random: Random): Uint8Array {
  return random.bytes(random.pick([0, 0, 1, 25, 60]));
}

function specOf(random: Random, start: Uint8Array, end: Uint8Array): ShardSpec {
  return ShardSpec.withRangeAndMetadata({ start, end, metadata: drawMetadata(random) });
}

/** A plan to replace a shard, its children in any order; `undefined` if its range is too narrow. */
export function drawReplacePlan(
  random: Random,
  { spec, cursor }: Pick<HeldShard, "spec" | "cursor">,
): SplitReplacePlan | undefined {
  const count = random.chance(MANY_CHILDREN_PPM) ? random.between(6, 20) : random.between(1, 4);
  const start = spec.keyRangeStart;
  const points = keysBetween(random, { start: cursor.lastKey ?? start, end: spec.keyRangeEnd }, count);
  if (points.length === 0) return undefined;
  const bounds = [start, ...points, spec.keyRangeEnd];
  const children = bounds.slice(1).map((end, index) => ({
    spec: specOf(random, bounds[index]!, end),
    cursor: index === 0 ? cursor : Cursor.initial(),
  }));
  return unwrap(SplitReplacePlan.tryNew(random.chance(300_000) ? children.toReversed() : children));
}

/** A plan to narrow a shard; `undefined` if its range is too narrow. */
export function drawResidualPlan(
  random: Random,
  { spec, cursor }: Pick<HeldShard, "spec" | "cursor">,
): SplitResidualPlan | undefined {
  const { keyRangeStart: start, keyRangeEnd: end } = spec;
  const point = keyBetween(random, cursor.lastKey ?? start, end);
  if (point === undefined) return undefined;
  return unwrap(
    SplitResidualPlan.tryNew({ parentNewSpec: specOf(random, start, point), residualSpec: specOf(random, point, end) }),
  );
}

export async function splitReplace(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const plan = drawReplacePlan(run.random, held);
  if (plan === undefined) return rejected("SplitValidation");
  const opId = worker.actor.nextOpId();
  return request(run, worker, {
    held,
    opId,
    ask: (calls) => calls.splitReplace(plan, { opId }),
    accept: ({ children }) => {
      worker.drop(held.lease);
      checkNamed(run, held, children);
      return { kind: "SplitReplaceOk", detail: `into ${children.length}` };
    },
  });
}

export async function splitResidual(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const plan = drawResidualPlan(run.random, held);
  if (plan === undefined) return rejected("SplitValidation");
  const { lease } = held;
  const opId = worker.actor.nextOpId();
  return request(run, worker, {
    held,
    opId,
    ask: (calls) => calls.splitResidual(plan, { opId }),
    accept: ({ residual }) => {
      const believed = worker.held(lease);
      if (believed?.lease.fence === lease.fence) {
        // A session knows its range, even if it was narrowed again since.
        const spec = believed.session?.spec ?? ShardSpec.withRangeAndMetadata(rangeOf(plan.parentNewSpec));
        worker.hold({ ...believed, spec });
      }
      checkNamed(run, held, [residual]);
      return { kind: "SplitResidualOk" };
    },
  });
}

function rangeOf({
  keyRangeStart: start,
  keyRangeEnd: end,
  metadata,
}: SplitResidualPlan["parentNewSpec"]): Parameters<typeof ShardSpec.withRangeAndMetadata>[0] {
  return { start, end, metadata };
}

/** The result of a split must name only shards that it created. */
function checkNamed({ world }: OpRun, { lease }: HeldShard, named: readonly bigint[]): void {
  const parent = world.mirror.shard(lease);
  // The run may have been deleted before the response arrived.
  if (parent !== undefined && !named.every((shard) => parent.spawned.some((id) => id === shard))) {
    world.wrong("split", "the result names shards that the split did not create");
  }
}

/** A split whose children leave a gap. */
export async function malformedSplit(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const { lease, spec, cursor } = held;
  const points = keysBetween(run.random, { start: cursor.lastKey ?? spec.keyRangeStart, end: spec.keyRangeEnd }, 4);
  if (points.length < 2) return { kind: "Skipped" };
  const plan = unwrap(
    SplitReplacePlan.tryNew([
      { spec: specOf(run.random, spec.keyRangeStart, points[0]!), cursor },
      { spec: specOf(run.random, points.at(-1)!, spec.keyRangeEnd), cursor: Cursor.initial() },
    ]),
  );
  const opId = worker.actor.nextOpId();
  const answer = await askLogged(run.world, {
    worker,
    lease,
    opId,
    ask: () => callsOf(worker, held).splitReplace(plan, { opId }),
  });
  if (!answer.ok) return takeRefusal(run, { worker, lease, again: undefined }, answer.error);
  run.world.wrong("split", "a split with a gap was accepted");
  return { kind: "SplitReplaceOk", detail: "with a gap" };
}
