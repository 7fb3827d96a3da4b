import type { BackendError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { RecordWrites } from "../kernel/transition.ts";
import type { Engine } from "./engine.ts";
import { commitDecided, decideFromCopy, executeFromStart } from "./execute-from-copy.ts";
import type { Executed, Job } from "./execute.ts";
import type { Copy } from "./operation.ts";

type ResultOf<Read, Outcome, Failure> = Result<Executed<Read, Outcome>, Failure | BackendError>;

/**
 * Execute operations on different records at the same time. Returns their results in the same order.
 *
 * Does what `executeFromCopy` does for each of them, with one reading of the clock and one promise for all. All of them
 * are decided before the first is committed.
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

  const used = new Set<Copy<Read>>();
  const decisions = jobs.map((job) => {
    // The second operation on a record must see what the first one wrote.
    if (used.has(job.copy)) return undefined;
    used.add(job.copy);
    return decideFromCopy(job, now);
  });
  return new Promise((resolve, fail) => {
    const results: ResultOf<Read, Outcome, Failure>[] = Array.from({ length: jobs.length });
    let left = jobs.length;
    for (const [index, job] of jobs.entries()) {
      const settle = (result: ResultOf<Read, Outcome, Failure>): void => {
        results[index] = result;
        if (--left === 0) resolve(results);
      };
      const decided = decisions[index];
      if (decided === undefined) executeFromStart(engine, job, { settle, fail });
      else commitDecided(engine, decided, { now, report: { settle, fail } });
    }
  });
}
