// What the alternatives would take: a fixed number of shards, and a central queue of items. Their claims cost one round
// trip and nothing else goes wrong, so the alternatives look a little better than they are.
import type { JobWorld, WorkerPlan } from "./job-world.fixture.ts";

export interface ScheduleCosts {
  /** A call of the store or the queue. */
  readonly roundTripMs: number;
  readonly leaseMs: number;
}

/** Parts of a job, in the order in which they are handed out: the items `[bounds[i], bounds[i + 1])`. */
export type Parts = readonly number[];

/** `count` shards of equal key space, as a planner that does not know the data makes them. */
export function staticParts({ costs, keys }: JobWorld, count: number): Parts {
  const items = costs.length;
  if (keys === "OnePrefix") return [0, items];
  const hotItems = keys === "OneRange" ? Math.ceil(0.99 * items) : 0;
  const rest = hotItems > 0 ? Math.max(1, count - 1) : count;
  const others = Array.from({ length: rest + 1 }, (_, index) =>
    Math.floor(hotItems + (index * (items - hotItems)) / rest),
  );
  return hotItems > 0 ? [0, ...others] : others;
}

/** When the last part is finished, if every worker takes the next part as soon as it is free. */
export function scheduleMs(
  { costs, workers }: JobWorld,
  parts: Parts,
  { roundTripMs, leaseMs }: ScheduleCosts,
): number {
  const sums = new Float64Array(costs.length + 1);
  for (let index = 0; index < costs.length; index++) sums[index + 1] = sums[index]! + costs[index]!;
  const free = new FreeWorkers(workers);
  /** Work that a dead worker left, and from when on it can be claimed. */
  const left: { readonly ms: number; readonly fromMs: number }[] = [];
  let endMs = 0;
  const give = (workMs: number, fromMs: number): void => {
    const worker = free.take(fromMs);
    const startMs = worker.freeAtMs + roundTripMs;
    const doneMs = startMs + workMs / worker.plan.speed;
    if (doneMs > worker.plan.diesAtMs) {
      const doneWorkMs = Math.max(0, worker.plan.diesAtMs - startMs) * worker.plan.speed;
      left.push({ ms: workMs - doneWorkMs, fromMs: worker.plan.diesAtMs + leaseMs });
      return;
    }
    endMs = Math.max(endMs, doneMs + roundTripMs);
    free.put(worker.plan, doneMs + roundTripMs);
  };
  for (let index = 0; index + 1 < parts.length; index++) give(sums[parts[index + 1]!]! - sums[parts[index]!]!, 0);
  for (let part = left.shift(); part !== undefined; part = left.shift()) give(part.ms, part.fromMs);
  return endMs;
}

interface FreeWorker {
  readonly plan: WorkerPlan;
  readonly freeAtMs: number;
}

/** The workers by the time at which they are free: a heap. */
class FreeWorkers {
  readonly #heap: FreeWorker[] = [];

  constructor(plans: readonly WorkerPlan[]) {
    for (const plan of plans) this.put(plan, plan.joinsAtMs);
  }

  put(plan: WorkerPlan, freeAtMs: number): void {
    const heap = this.#heap;
    const worker = { plan, freeAtMs };
    let index = heap.push(worker) - 1;
    while (index > 0 && freeAtMs < heap[(index - 1) >> 1]!.freeAtMs) {
      heap[index] = heap[(index - 1) >> 1]!;
      index = (index - 1) >> 1;
    }
    heap[index] = worker;
  }

  /** The worker that is free first, but not before `fromMs`. */
  take(fromMs: number): FreeWorker {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      let index = 0;
      for (;;) {
        let child = 2 * index + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && heap[child + 1]!.freeAtMs < heap[child]!.freeAtMs) child++;
        if (heap[child]!.freeAtMs >= last.freeAtMs) break;
        heap[index] = heap[child]!;
        index = child;
      }
      heap[index] = last;
    }
    return { plan: first.plan, freeAtMs: Math.max(first.freeAtMs, fromMs) };
  }
}
