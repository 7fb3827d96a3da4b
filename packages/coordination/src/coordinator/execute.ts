import type { BackendError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RecordWrites, Transition } from "../kernel/transition.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { CommitAnswer, Committed } from "../store/commit-answer.ts";
import type { Attempts, Engine } from "./engine.ts";
import type { Copy, Operation } from "./operation.ts";

/** A successful operation: the kernel's outcome, and the record as it is now. */
export interface Executed<Read, Outcome> {
  readonly outcome: Outcome;
  /** `undefined` unless the operation asked for it. */
  readonly hint: CapacityHint | undefined;
  readonly read: Read;
}

/** An operation, and its record as it was last seen. */
export interface Job<Read, Writes extends RecordWrites, Outcome, Failure> {
  readonly operation: Operation<Read, Writes, Outcome, Failure>;
  readonly copy: Copy<Read>;
}

/** A decision to write, and what it rests on. */
export interface Decided<Read, Writes extends RecordWrites, Outcome, Failure> {
  readonly job: Job<Read, Writes, Outcome, Failure>;
  readonly read: Read;
  readonly writes: Writes;
  readonly transition: Transition<Outcome, Writes>;
}

/** How far an operation has come. */
interface Execution {
  readonly attempts: Attempts;
  /** Whether a write of it had an unknown outcome. */
  wasUnknown: boolean;
}

export type RefusedWrite = Exclude<CommitAnswer, Committed>;

/**
 * Execute an operation: read, decide, write, and again if another write came in between.
 *
 * Every operation of a coordinator and of a session passes through this loop, or begins in `executeFromCopy` and
 * goes on here.
 *
 * - `copy` is the record as its holder last saw it. A decision that rests on a copy needs no read: the lease holder is
 *   nearly always the only writer, and the guard of the write catches the other case. A refusal that rests on a copy
 *   may rest on an outdated record, so the record is read and the operation decided again.
 * - An unknown outcome is never guessed. The record is read and the same operation decided again: if the first write was
 *   made, its op id is in the log and the result is a replay.
 * - Events are emitted once their write is known to be made, by whichever operation finds that out.
 */
export function execute<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  operation: Operation<Read, Writes, Outcome, Failure>,
  copy: Copy<Read> = { read: undefined },
): Promise<Result<Executed<Read, Outcome>, Failure | BackendError>> {
  return attempt(engine, { operation, copy }, begin(operation.name));
}

/** Goes on with an operation whose first write was not committed. */
export async function executeAfter<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  decided: Decided<Read, Writes, Outcome, Failure>,
  answer: RefusedWrite,
): Promise<Result<Executed<Read, Outcome>, Failure | BackendError>> {
  const { job } = decided;
  const execution = begin(job.operation.name);
  const again = await mayTryAgain(engine, decided, { answer, execution });
  return again.ok ? attempt(engine, job, execution) : again;
}

/** Notes that a decision is stored, and returns its result. */
export function committed<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  { job: { operation, copy }, read, writes, transition }: Decided<Read, Writes, Outcome, Failure>,
  { version, hint }: Committed,
): Executed<Read, Outcome> {
  const { target } = operation;
  const after = target.after(read, writes, version);
  copy.read = after;
  target.forgetLost(read);
  engine.emit(transition.events);
  return { outcome: transition.outcome, hint, read: after };
}

async function attempt<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  job: Job<Read, Writes, Outcome, Failure>,
  execution: Execution,
): Promise<Result<Executed<Read, Outcome>, Failure | BackendError>> {
  const { operation, copy } = job;
  const { name, target } = operation;
  const { attempts } = execution;
  for (;;) {
    const reading = engine.readClock(name);
    const clock = reading instanceof Promise ? await reading : reading;
    if (!clock.ok) return clock;
    const now = clock.value;

    // Read.
    const copied = copy.read;
    const loaded = copied === undefined ? await load(engine, operation, attempts) : ok(copied);
    if (!loaded.ok) return loaded;
    const read = loaded.value;
    const resolved = execution.wasUnknown ? operation.resolve?.(read) : undefined;
    if (resolved !== undefined) return resolved.ok ? ok({ outcome: resolved.value, hint: undefined, read }) : resolved;
    const more = operation.readMore === undefined ? loaded : await operation.readMore(read, now, attempts);
    if (!more.ok) return more;

    // Decide.
    const judged = operation.decide(more.value, now);
    if (!judged.ok) {
      copy.read = undefined;
      if (copied !== undefined) continue;
      return judged;
    }
    const transition = judged.value;
    const { writes } = transition;
    if (writes === undefined) {
      copy.read = read;
      return ok({ outcome: transition.outcome, hint: await target.readHint(now), read });
    }

    // Write.
    const decided = { job, read, writes, transition };
    const committing = engine.commit(target.toWriteSet(read, writes, now));
    const answer = committing instanceof Promise ? await committing : committing;
    if (answer.kind === "Committed") return ok(committed(engine, decided, answer));
    const again = await mayTryAgain(engine, decided, { answer, execution });
    if (!again.ok) return again;
  }
}

/** Returns why a write that was not committed is final, or waits until it may be tried again. */
async function mayTryAgain<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  { job: { operation, copy }, read, writes, transition }: Decided<Read, Writes, Outcome, Failure>,
  { answer, execution }: { readonly answer: RefusedWrite; readonly execution: Execution },
): Promise<Result<void, Failure | BackendError>> {
  copy.read = undefined;
  if (answer.kind === "LimitExceeded" || answer.kind === "Exists" || answer.kind === "Exhausted")
    return err(operation.refuse(answer));
  // After an unknown outcome the next read shows whether the write was made.
  if (answer.kind === "Unknown") {
    execution.wasUnknown = true;
    operation.target.rememberLost(read, writes, transition.events);
  }
  return answer.kind === "Conflict"
    ? engine.retryAfterConflict(execution.attempts)
    : engine.retryAfter(execution.attempts, answer.error);
}

function begin(operation: Attempts["operation"]): Execution {
  return { attempts: { operation, count: 0 }, wasUnknown: false };
}

/** Read the record, and emit the events of earlier writes with an unknown outcome that turn out to have been made. */
async function load<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  { target }: Operation<Read, Writes, Outcome, Failure>,
  attempts: Attempts,
): Promise<Result<Read, BackendError>> {
  const lostBefore = target.lostCount;
  const loaded = await engine.read(attempts, () => target.read());
  if (loaded.ok) engine.emit(target.settleLost(loaded.value, lostBefore));
  return loaded;
}
