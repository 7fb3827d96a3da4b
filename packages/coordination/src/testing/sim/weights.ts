import type { SimOpKind } from "./sim-op.ts";

/** The weight of each operation, in percent. */
export type Weights = Partial<Readonly<Record<SimOpKind, number>>>;

/** The main part of a run: all operations, with faults. */
export const SAFETY_WEIGHTS: Weights = {
  Acquire: 13,
  Renew: 10,
  Checkpoint: 13,
  Complete: 8,
  Park: 3,
  Unpark: 2,
  SplitReplace: 4,
  SplitResidual: 4,
  ReplayCheckpoint: 2,
  ConflictCheckpoint: 2,
  ZombieCheckpoint: 3,
  ClaimNext: 3,
  SessionLifecycle: 8,
  AdvanceTime: 9,
  PauseWorker: 8,
  TerminateRun: 2,
  ResumeWorker: 6,
};

/** The first operations of a run, which create work. */
export const WARM_UP_WEIGHTS: Weights = { Acquire: 30, Renew: 20, Checkpoint: 25, Complete: 15, Park: 10 };

/** The last part: no faults, and every shard must end. */
export const LIVENESS_WEIGHTS: Weights = {
  Acquire: 30,
  Renew: 10,
  Checkpoint: 15,
  Complete: 30,
  AdvanceTime: 10,
  ResumeWorker: 5,
};

/**
 * Operations that sometimes replace a draw from the safety weights: those that the original simulator does not have, and
 * faulty callers. *Addition.*
 */
export const MISCHIEF_WEIGHTS: Weights = {
  Release: 18,
  Retry: 21,
  CrashWorker: 6,
  SkewClock: 7,
  CreateRun: 7,
  DeleteRun: 7,
  MalformedCheckpoint: 20,
  MalformedSplit: 6,
  ForeignTenant: 8,
};

/** How often they do, in a million steps. */
export const MISCHIEF_PPM = 200_000;

/** What a roll of 0 to 99 means. */
export function rolled(weights: Weights, roll: number): SimOpKind {
  let left = roll;
  for (const [kind, weight] of Object.entries(weights) as [SimOpKind, number][]) {
    if (left < weight) return kind;
    left -= weight;
  }
  throw new RangeError(`weights must add up to more than ${roll}`);
}
