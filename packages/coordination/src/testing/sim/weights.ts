import type { SimOpKind } from "./sim-op.ts";

/** How often each operation is rolled, of 100. */
export type Weights = Partial<Readonly<Record<SimOpKind, number>>>;

/** The main part of a run: everything, with faults. */
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

/** The first operations of a run, so that there is something to go wrong. */
export const WARM_UP_WEIGHTS: Weights = { Acquire: 30, Renew: 20, Checkpoint: 25, Complete: 15, Park: 10 };

/** The last part: no faults, and everything must come to its end. */
export const LIVENESS_WEIGHTS: Weights = {
  Acquire: 30,
  Renew: 10,
  Checkpoint: 15,
  Complete: 30,
  AdvanceTime: 10,
  ResumeWorker: 5,
};

/**
 * What is done now and then in place of a roll of the safety weights: what the original's simulator
 * had no words for, and callers that are wrong. *Addition.*
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

/** How often that is, in a million steps. */
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
