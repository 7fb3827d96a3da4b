import { FAULT_KINDS, type FaultKind, type FaultLevel } from "./fault-level.ts";
import type { Violation } from "./invariants/violation.ts";
import {
  formatEvent,
  REJECTION_KINDS,
  SIM_EVENT_KINDS,
  type RejectionKind,
  type SimEvent,
  type SimEventKind,
} from "./sim-event.ts";
import { formatOp, type SimOp } from "./sim-op.ts";
import { TraceHash } from "./trace-hash.ts";

/** What a run did, and the rules that it broke. */
export interface SimReport {
  readonly seed: bigint;
  readonly level: FaultLevel;
  readonly opsExecuted: number;
  readonly violations: readonly Violation[];
  readonly eventCounts: Readonly<Partial<Record<SimEventKind, number>>>;
  readonly rejectionCounts: Readonly<Partial<Record<RejectionKind, number>>>;
  readonly faultCounts: Readonly<Partial<Record<FaultKind, number>>>;
  readonly endTime: bigint;
  /** Whether every shard has ended, except those of runs that ended first. */
  readonly converged: boolean;
  readonly nonTerminalCount: number;
  /** How often a reported capacity was compared with the true one. */
  readonly capacitySamples: number;
  /** Equal for two runs that did the same things in the same order. */
  readonly traceHash: string;
  /** The steps that were taken, up to the first that broke a rule. */
  readonly stepsTaken: readonly number[];
  /** A line for each operation, if `keepsTrace` is set. */
  readonly trace: readonly string[];
}

/** Records what happens. */
export class SimRecorder {
  readonly #keepsTrace: boolean;
  readonly #hash = new TraceHash();
  readonly eventCounts: Partial<Record<SimEventKind, number>> = {};
  readonly rejectionCounts: Partial<Record<RejectionKind, number>> = {};
  readonly faultCounts: Partial<Record<FaultKind, number>> = {};
  readonly trace: string[] = [];
  opsExecuted = 0;

  constructor(keepsTrace: boolean) {
    this.#keepsTrace = keepsTrace;
  }

  get traceHash(): string {
    return this.#hash.digest();
  }

  noteFault(kind: FaultKind): void {
    this.faultCounts[kind] = (this.faultCounts[kind] ?? 0) + 1;
  }

  record(step: string, op: SimOp, event: SimEvent): void {
    this.opsExecuted += event.kind === "UnderWay" ? 0 : 1;
    this.eventCounts[event.kind] = (this.eventCounts[event.kind] ?? 0) + 1;
    if (event.kind === "Rejected")
      this.rejectionCounts[event.rejection] = (this.rejectionCounts[event.rejection] ?? 0) + 1;
    const line = `${step} ${formatOp(op)} -> ${formatEvent(event)}`;
    this.#hash.add(line);
    if (this.#keepsTrace) this.trace.push(line);
  }
}

/** The kinds of events, rejections and faults that occurred in several runs together. */
export interface SimCoverage {
  readonly events: ReadonlyMap<SimEventKind, number>;
  readonly rejections: ReadonlyMap<RejectionKind, number>;
  readonly faults: ReadonlyMap<FaultKind, number>;
}

export function coverageOf(reports: readonly SimReport[]): SimCoverage {
  const sum = <Kind extends string>(
    kinds: readonly Kind[],
    counts: (report: SimReport) => Partial<Record<Kind, number>>,
  ) => new Map(kinds.map((kind) => [kind, reports.reduce((total, report) => total + (counts(report)[kind] ?? 0), 0)]));
  return {
    events: sum(SIM_EVENT_KINDS, (report) => report.eventCounts),
    rejections: sum(REJECTION_KINDS, (report) => report.rejectionCounts),
    faults: sum(FAULT_KINDS, (report) => report.faultCounts),
  };
}
