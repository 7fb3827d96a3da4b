import type { LogicalTime } from "@gossip/contracts";
import type { BackendError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import type { RecordWrites, Transition } from "../kernel/transition.ts";
import type { Engine } from "./engine.ts";
import { execute, type Executed } from "./execute.ts";
import type { Copy, Operation } from "./operation.ts";

/** An operation, and its record as it was last seen. */
export interface Job<Read, Writes extends RecordWrites, Outcome, Failure> {
  readonly operation: Operation<Read, Writes, Outcome, Failure>;
  readonly copy: Copy<Read>;
}

/** A job whose decision to write rests on the copy. */
interface Decided<Read, Writes extends RecordWrites, Outcome> {
  readonly index: number;
  readonly read: Read;
  readonly writes: Writes;
  readonly transition: Transition<Outcome, Writes>;
}

type ResultOf<Read, Outcome, Failure> = Result<Executed<Read, Outcome>, Failure | BackendError>;

/**
 * Execute operations on different records at the same time. Returns their results in the same order.
 *
 * Does what `execute` does for each of them, with one reading of the clock and one promise for all: a chain of promises
 * for each costs as much as its decision. Only a decision to write that rests on a copy is made here. Everything else is
 * left to `execute`: an operation without a copy, a refusal, a replay, a write that was not committed.
 */
export async function executeMany<Read, Writes extends RecordWrites, Outcome, Failure>(
  engine: Engine,
  jobs: readonly Job<Read, Writes, Outcome, Failure>[],
): Promise<ResultOf<Read, Outcome, Failure>[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const reading = engine.readClock(first.operation.name);
  const clock = reading instanceof Promise ? await reading : reading;
  if (!clock.ok) return jobs.map(() => clock);
  const now = clock.value;

  const results: ResultOf<Read, Outcome, Failure>[] = Array.from({ length: jobs.length });
  const { decided, others } = decideAll(jobs, now);
  const executeAlone = async (index: number): Promise<void> => {
    const { operation, copy } = jobs[index]!;
    results[index] = await execute(engine, operation, copy);
  };
  const commitDecided = async (): Promise<void> => {
    const sets = decided.map(({ index, read, writes }) => jobs[index]!.operation.target.toWriteSet(read, writes, now));
    const answers = await engine.commitAll(sets);
    const refused: number[] = [];
    for (let at = 0; at < decided.length; at++) {
      const { index, read, writes, transition } = decided[at]!;
      const { operation, copy } = jobs[index]!;
      const { target } = operation;
      const answer = answers[at]!;
      if (answer.kind === "Committed") {
        copy.read = target.after(read, writes, answer.version);
        target.forgetLost(read);
        engine.emit(transition.events);
        results[index] = ok({ outcome: transition.outcome, hint: answer.hint, read: copy.read });
        continue;
      }
      // The record is read and the operation decided again. If the write was made after all, that is a replay.
      copy.read = undefined;
      if (answer.kind === "Unknown") target.rememberLost(read, writes, transition.events);
      refused.push(index);
    }
    if (refused.length > 0) await Promise.all(refused.map(executeAlone));
  };
  if (others.length === 0) await commitDecided();
  else await Promise.all([commitDecided(), ...others.map(executeAlone)]);
  return results;
}

/** Decide what can be decided from copies. `others` are the indexes of the rest. */
function decideAll<Read, Writes extends RecordWrites, Outcome, Failure>(
  jobs: readonly Job<Read, Writes, Outcome, Failure>[],
  now: LogicalTime,
): { readonly decided: readonly Decided<Read, Writes, Outcome>[]; readonly others: readonly number[] } {
  const decided: Decided<Read, Writes, Outcome>[] = [];
  const others: number[] = [];
  const used = new Set<Copy<Read>>();
  for (let index = 0; index < jobs.length; index++) {
    const { operation, copy } = jobs[index]!;
    const { read } = copy;
    // The second operation on a record must see what the first one wrote.
    const isFirst = !used.has(copy);
    used.add(copy);
    const judged = read === undefined || !isFirst ? undefined : operation.decide(read, now);
    const writes = judged?.ok === true ? judged.value.writes : undefined;
    if (read === undefined || judged?.ok !== true || writes === undefined) others.push(index);
    else decided.push({ index, read, writes, transition: judged.value });
  }
  return { decided, others };
}
