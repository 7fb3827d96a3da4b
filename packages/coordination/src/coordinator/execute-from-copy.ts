import type { LogicalTime } from "@gossip/contracts";
import type { BackendError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import type { RecordWrites } from "../kernel/transition.ts";
import type { Engine } from "./engine.ts";
import { committed, execute, executeAfter, type Decided, type Executed, type Job } from "./execute.ts";

type Clock = Result<LogicalTime, BackendError>;

/** How an operation reports its end. Exactly one of the two is called, once. Neither may throw. */
export interface Report<Read, Outcome, Failure> {
  readonly settle: (result: Result<Executed<Read, Outcome>, Failure | BackendError>) => void;
  /** An invariant was broken. */
  readonly fail: (reason: unknown) => void;
}

/**
 * As `execute`, without a promise for the usual case: a decision to write that rests on the copy, and that is committed.
 *
 * Nearly every checkpoint is that. The promises of `execute` cost as much as the decision.
 */
export function executeFromCopy<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  job: Job<Read, Writes, Outcome, Failure>,
  report: Report<Read, Outcome, Failure>,
): void {
  if (job.copy.read === undefined) return executeFromStart(engine, job, report);
  const reading = engine.readClock(job.operation.name);
  if (reading instanceof Promise) reading.then((clock) => executeAt(engine, job, { clock, report })).catch(report.fail);
  else executeAt(engine, job, { clock: reading, report });
}

function executeAt<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  job: Job<Read, Writes, Outcome, Failure>,
  { clock, report }: { readonly clock: Clock; readonly report: Report<Read, Outcome, Failure> },
): void {
  if (!clock.ok) return report.settle(clock);
  const now = clock.value;
  const decided = decideFromCopy(job, now);
  if (decided === undefined) executeFromStart(engine, job, report);
  else commitDecided(engine, decided, { now, report });
}

export function executeFromStart<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  { operation, copy }: Job<Read, Writes, Outcome, Failure>,
  { settle, fail }: Report<Read, Outcome, Failure>,
): void {
  execute(engine, operation, copy).then(settle, fail);
}

/** The decision of an operation if it can rest on the copy and is to write. */
export function decideFromCopy<Read, Writes extends RecordWrites, Outcome, Failure>(
  job: Job<Read, Writes, Outcome, Failure>,
  now: LogicalTime,
): Decided<Read, Writes, Outcome, Failure> | undefined {
  const { operation, copy } = job;
  const { read } = copy;
  if (read === undefined || operation.readMore !== undefined) return undefined;
  const judged = operation.decide(read, now);
  if (!judged.ok) return undefined;
  const transition = judged.value;
  const { writes } = transition;
  return writes && { job, read, writes, transition };
}

/** Commits a decision. If that fails, the operation goes on in `execute`. */
export function commitDecided<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  decided: Decided<Read, Writes, Outcome, Failure>,
  { now, report }: { readonly now: LogicalTime; readonly report: Report<Read, Outcome, Failure> },
): void {
  const { read, writes, job } = decided;
  engine.commitThen(job.operation.target.toWriteSet(read, writes, now), {
    answered: (answer) => {
      if (answer.kind === "Committed") report.settle(ok(committed(engine, decided, answer)));
      else executeAfter(engine, decided, answer).then(report.settle, report.fail);
    },
    failed: report.fail,
  });
}
