import type { CommitFault } from "../fault-injecting-store.ts";

/** How many faults a run has. */
export type FaultLevel = "SunnyDay" | "Stormy" | "Radioactive";

export const FAULT_LEVELS: readonly FaultLevel[] = ["SunnyDay", "Stormy", "Radioactive"];

/** The faults that are injected. Crashes and skewed clocks are operations instead. */
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

/** An inclusive range. */
export type Span = readonly [min: number, max: number];

/** How often each fault occurs, in a million opportunities. */
export interface FaultConfig {
  /** Before an operation: time advances to the deadline of its lease, or to one tick before it. */
  readonly leaseExpiryPpm: number;
  /** During an operation: its worker pauses for a number of steps. */
  readonly pausePpm: number;
  readonly pauseSteps: Span;
  /** Before an operation: time jumps. */
  readonly timeJumpPpm: number;
  readonly timeJumpTicks: Span;
  /** A call to the store is slow, or its response is. *An addition, like everything below.* */
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
