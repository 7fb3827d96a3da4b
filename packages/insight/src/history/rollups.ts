import { decodeHeat, encodeHeat, NO_HEAT, type HeatColumn } from "./heat-column.ts";

/** Steps of time that are kept, finest first. A note holds several steps; a ring of notes holds them all. */
export const TIERS = [
  { name: "1s", stepMs: 1000, steps: 600, stepsPerNote: 60, heatSize: 100 },
  { name: "1m", stepMs: 60_000, steps: 360, stepsPerNote: 30, heatSize: 270 },
  { name: "10m", stepMs: 600_000, steps: 576, stepsPerNote: 20, heatSize: 480 },
] as const;

export type Tier = (typeof TIERS)[number];

/** What happened in one step of time. */
export interface RollupStep {
  items: number;
  failures: number;
  /** The most workers that held a shard at once. */
  workers: number;
  heat: HeatColumn;
}

/** What a look at a run adds. */
export interface RollupInput {
  readonly fromMs: number;
  readonly toMs: number;
  readonly items: number;
  readonly failures: number;
  readonly workers: number;
  readonly heat: ReadonlyMap<number, number>;
}

/** The steps of one tier. Only the newest step is open; older ones are encoded, so that memory stays small. */
class TierSteps {
  readonly tier: Tier;
  readonly steps = new Map<number, RollupStep>();
  /** Numbers of notes whose steps have changed. */
  readonly dirty = new Set<number>();
  #newest = -1;
  #open = new Map<number, number>();

  constructor(tier: Tier) {
    this.tier = tier;
  }

  put(index: number, step: RollupStep): void {
    this.steps.set(index, step);
    this.#advance(index);
  }

  add(index: number, share: number, { items, failures, workers, heat }: RollupInput): void {
    if (index < this.#newest) return;
    this.#advance(index);
    const step = this.steps.get(index) ?? { items: 0, failures: 0, workers: 0, heat: NO_HEAT };
    step.items += items * share;
    step.failures += failures * share;
    step.workers = Math.max(step.workers, workers);
    for (const [bucket, count] of heat) this.#open.set(bucket, (this.#open.get(bucket) ?? 0) + count * share);
    this.steps.set(index, step);
    this.dirty.add(Math.floor(index / this.tier.stepsPerNote));
  }

  /** Add the same share to each of several steps. */
  fill(
    { first, last }: { readonly first: number; readonly last: number },
    share: number,
    { items, failures, workers, heat }: RollupInput,
  ): void {
    const scaled = new Map([...heat].map(([bucket, count]) => [bucket, count * share]));
    const column = encodeHeat(scaled, this.tier.heatSize);
    for (let index = Math.max(first, this.#newest + 1); index <= last; index++) {
      this.steps.set(index, { items: items * share, failures: failures * share, workers, heat: column });
      this.dirty.add(Math.floor(index / this.tier.stepsPerNote));
    }
  }

  /** Take over steps of another process that are older than all of these. */
  addOlder(steps: ReadonlyMap<number, RollupStep>): void {
    const oldest = Math.min(...this.steps.keys());
    for (const [index, step] of steps) {
      if (index >= oldest) continue;
      this.steps.set(index, step);
      this.#advance(index);
    }
  }

  /** Take over the newer steps of another process, and the newest of these if the other saw more in it. */
  addNewer(steps: ReadonlyMap<number, RollupStep>): void {
    const newest = this.#newest;
    const newer = [...steps].filter(([index]) => index >= newest).toSorted(([a], [b]) => a - b);
    for (const [index, step] of newer) {
      if (index === newest && step.items <= (this.steps.get(index)?.items ?? 0)) continue;
      this.put(index, { ...step });
      if (index === newest) this.#open = decodeHeat(step.heat);
    }
  }

  /** Encode the open step, so that `steps` is complete. */
  settle(): void {
    const step = this.steps.get(this.#newest);
    if (step !== undefined) step.heat = encodeHeat(this.#open, this.tier.heatSize);
  }

  #advance(index: number): void {
    if (index <= this.#newest) return;
    this.settle();
    this.#newest = index;
    const step = this.steps.get(index);
    this.#open = step === undefined ? new Map() : decodeHeat(step.heat);
    for (const old of this.steps.keys()) if (old <= index - this.tier.steps) this.steps.delete(old);
  }
}

/** The history of a run in steps of a second, a minute and ten minutes. Its size is bounded. */
export class Rollups {
  readonly #tiers: ReadonlyMap<number, TierSteps> = new Map(TIERS.map((tier) => [tier.stepMs, new TierSteps(tier)]));

  /** Add what happened between two looks, shared out over the steps between them. */
  add(input: RollupInput): void {
    const { fromMs, toMs } = input;
    if (toMs <= fromMs) return;
    for (const tierSteps of this.#tiers.values()) {
      const { stepMs, steps } = tierSteps.tier;
      const last = Math.floor((toMs - 1) / stepMs);
      const first = Math.max(Math.floor(fromMs / stepMs), last - steps + 1);
      // The steps between the first and the last are alike, so that one is computed for all of them.
      const isLong = last - first > 1;
      if (isLong) tierSteps.fill({ first: first + 1, last: last - 1 }, stepMs / (toMs - fromMs), input);
      for (const index of new Set([first, last])) {
        const overlap = Math.min(toMs, (index + 1) * stepMs) - Math.max(fromMs, index * stepMs);
        tierSteps.add(index, overlap / (toMs - fromMs), input);
      }
    }
  }

  /** Put a step that was stored. */
  put(stepMs: number, index: number, step: RollupStep): void {
    this.#tiers.get(stepMs)?.put(index, step);
  }

  /** Take over the steps of another process that are older than all of these. */
  addOlder(stored: Rollups): void {
    for (const [stepMs, tierSteps] of this.#tiers) tierSteps.addOlder(stored.steps(stepMs));
  }

  /** Take over the newer steps of another process, and the newest of these if the other saw more in it. */
  addNewer(seen: Rollups): void {
    for (const [stepMs, tierSteps] of this.#tiers) tierSteps.addNewer(seen.steps(stepMs));
  }

  /** The steps of a tier by number: a step covers `number * stepMs` and on. */
  steps(stepMs: number): ReadonlyMap<number, RollupStep> {
    const tierSteps = this.#tiers.get(stepMs);
    tierSteps?.settle();
    return tierSteps?.steps ?? NO_STEPS;
  }

  /** The notes whose steps have changed since the last call. */
  takeDirty(): { readonly tier: Tier; readonly note: number }[] {
    const dirty: { readonly tier: Tier; readonly note: number }[] = [];
    for (const tierSteps of this.#tiers.values()) {
      for (const note of tierSteps.dirty) dirty.push({ tier: tierSteps.tier, note });
      tierSteps.dirty.clear();
    }
    return dirty;
  }

  /** Count notes as changed again, because they could not be written. */
  restoreDirty(dirty: readonly { readonly tier: Tier; readonly note: number }[]): void {
    for (const { tier, note } of dirty) this.#tiers.get(tier.stepMs)!.dirty.add(note);
  }
}

const NO_STEPS: ReadonlyMap<number, RollupStep> = new Map();
