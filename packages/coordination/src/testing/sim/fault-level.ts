import type { CommitFault } from "../fault-injecting-store.ts";

/** How rough it gets. */
export type FaultLevel = "SunnyDay" | "Stormy" | "Radioactive";

export const FAULT_LEVELS: readonly FaultLevel[] = ["SunnyDay", "Stormy", "Radioactive"];

/** Everything that goes wrong by itself. Crashes and wrong clocks are operations. */
export const FAULT_KINDS = [
  "LeaseExpiry",
  "TimeJump",
  "Pause",
  "Slow",
  "ReadFailed",
  "StaleRead",
  "Conflict",
  "Failed",
  "UnknownNotMade",
  "UnknownMade",
  "UnknownLate",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** From, to: both possible. */
export type Span = readonly [min: number, max: number];

/** How often each thing goes wrong, in a million times that it could. */
export interface FaultConfig {
  /** Before an operation: time comes to the deadline of the lease that it rests on, or one short of it. */
  readonly leaseExpiryPpm: number;
  /** During an operation: its worker stops, for so many steps. */
  readonly pausePpm: number;
  readonly pauseSteps: Span;
  /** Before an operation: time jumps. */
  readonly timeJumpPpm: number;
  readonly timeJumpTicks: Span;
  /** A call to the store takes its time, on the way there or on the way back. *Addition, as all below.* */
  readonly slowPpm: number;
  readonly slowSteps: Span;
  readonly readFailedPpm: number;
  readonly staleReadPpm: number;
  readonly commitPpm: Readonly<Record<CommitFault, number>>;
  /** How far a coordinator's clock may be off, in ticks, either way. */
  readonly maxSkewTicks: number;
}

const NEVER: Span = [0, 0];
const NO_COMMIT_FAULTS = { Conflict: 0, Failed: 0, UnknownNotMade: 0, UnknownMade: 0, UnknownLate: 0 } as const;

export const FAULTS = {
  SunnyDay: {
    leaseExpiryPpm: 0,
    pausePpm: 0,
    pauseSteps: NEVER,
    timeJumpPpm: 0,
    timeJumpTicks: NEVER,
    slowPpm: 0,
    slowSteps: NEVER,
    readFailedPpm: 0,
    staleReadPpm: 0,
    commitPpm: NO_COMMIT_FAULTS,
    maxSkewTicks: 0,
  },
  Stormy: {
    leaseExpiryPpm: 100_000,
    pausePpm: 50_000,
    pauseSteps: [1, 5],
    timeJumpPpm: 100_000,
    timeJumpTicks: [50, 200],
    slowPpm: 20_000,
    slowSteps: [1, 4],
    readFailedPpm: 10_000,
    staleReadPpm: 10_000,
    commitPpm: { Conflict: 20_000, Failed: 10_000, UnknownNotMade: 10_000, UnknownMade: 20_000, UnknownLate: 10_000 },
    maxSkewTicks: 20,
  },
  Radioactive: {
    leaseExpiryPpm: 200_000,
    pausePpm: 100_000,
    pauseSteps: [1, 10],
    timeJumpPpm: 200_000,
    timeJumpTicks: [100, 500],
    slowPpm: 60_000,
    slowSteps: [1, 8],
    readFailedPpm: 40_000,
    staleReadPpm: 40_000,
    commitPpm: { Conflict: 50_000, Failed: 40_000, UnknownNotMade: 40_000, UnknownMade: 60_000, UnknownLate: 40_000 },
    maxSkewTicks: 80,
  },
} as const satisfies Readonly<Record<FaultLevel, FaultConfig>>;

/** What is written on a command line. */
export function parseFaultLevel(text: string): FaultLevel | undefined {
  const name = typeof text === "string" ? text.toLowerCase() : undefined;
  return FAULT_LEVELS.find((level) => level.toLowerCase() === name);
}
