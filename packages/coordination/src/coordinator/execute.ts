import type { BackendError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RecordWrites } from "../kernel/transition.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { Attempts, Engine } from "./engine.ts";
import type { Copy, Operation } from "./operation.ts";

/** A successful operation: the kernel's outcome, and the record as it is now. */
export interface Executed<Read, Outcome> {
  readonly outcome: Outcome;
  /** `undefined` unless the operation asked for it. */
  readonly hint: CapacityHint | undefined;
  readonly read: Read;
}

/**
 * Execute an operation: read, decide, write, and again if another write came in between.
 *
 * Every operation of a coordinator and of a session passes through this loop.
 *
 * - `copy` is the record as its holder last saw it. A decision that rests on a copy needs no read: the lease holder is
 *   nearly always the only writer, and the guard of the write catches the other case. A refusal that rests on a copy
 *   may rest on an outdated record, so the record is read and the operation decided again.
 * - An unknown outcome is never guessed. The record is read and the same operation decided again: if the first write was
 *   made, its op id is in the log and the result is a replay.
 * - Events are emitted once their write is known to be made, by whichever operation finds that out.
 */
export async function execute<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  operation: Operation<Read, Writes, Outcome, Failure>,
  copy: Copy<Read> = { read: undefined },
): Promise<Result<Executed<Read, Outcome>, Failure | BackendError>> {
  const { name, target } = operation;
  const attempts: Attempts = { operation: name, count: 0 };
  let wasUnknown = false;
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
    const resolved = wasUnknown ? operation.resolve?.(read) : undefined;
    if (resolved !== undefined) return resolved.ok ? ok({ outcome: resolved.value, hint: undefined, read }) : resolved;
    const more = operation.readMore === undefined ? loaded : await operation.readMore(read, now, attempts);
    if (!more.ok) return more;

    // Decide.
    const decided = operation.decide(more.value, now);
    if (!decided.ok) {
      copy.read = undefined;
      if (copied !== undefined) continue;
      return decided;
    }
    const { outcome, writes, events } = decided.value;
    if (writes === undefined) {
      copy.read = read;
      return ok({ outcome, hint: await target.readHint(now), read });
    }

    // Write.
    const committing = engine.commit(target.toWriteSet(read, writes, now));
    const answer = committing instanceof Promise ? await committing : committing;
    if (answer.kind === "Committed") {
      copy.read = target.after(read, writes, answer.version);
      target.forgetLost(read);
      engine.emit(events);
      return ok({ outcome, hint: answer.hint, read: copy.read });
    }
    copy.read = undefined;
    if (answer.kind === "LimitExceeded" || answer.kind === "Exists" || answer.kind === "Exhausted")
      return err(operation.refuse(answer));

    // Try again. After an unknown outcome the next read shows whether the write was made.
    if (answer.kind === "Unknown") {
      wasUnknown = true;
      target.rememberLost(read, writes, events);
    }
    const again =
      answer.kind === "Conflict"
        ? await engine.retryAfterConflict(attempts)
        : await engine.retryAfter(attempts, answer.error);
    if (!again.ok) return again;
  }
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
