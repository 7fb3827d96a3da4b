import type { BackendError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { Waiting } from "./commit-queue.ts";
import type { Engine } from "./engine.ts";
import { askForShard, runInSteps, type Begun } from "./run-in-steps.ts";
import { drop, keep, settleUnresolved, toAttempt, type Attempt } from "./shard-attempt.ts";
import { ShardCopy } from "./shard-copy.ts";
import type { Settled, ShardOperation } from "./shard-operation.ts";

/** What is done where an operation ends: one of the two, once. */
export interface Ending<Outcome, Failure, Told> {
  /** Say what the caller is told of what became of it. */
  readonly told: (result: Result<Settled<Outcome>, Failure | BackendError>) => Told;
  /** Hear that `told` will not be called, or has thrown: the program is wrong, and the caller's promise is rejected. */
  readonly broken: () => void;
}

/**
 * Carry an operation out: read, decide, write, and again where another's write came between.
 *
 * - A refusal that rests on a copy is not given: it may rest on what is no longer so. The
 *   shard is read and judged again.
 * - A write whose fate is unknown is never guessed at. The shard is read and the same
 *   operation decided again: had it been made, its op id is in the log, and the answer is a replay.
 * - Events are told once it is known that their write was made, by whichever operation finds that out.
 */
export function runShardOperation<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  copy: ShardCopy = new ShardCopy(undefined),
): Eventually<Result<Settled<Outcome>, Failure | BackendError>> {
  return carryOut<Outcome, Failure, Result<Settled<Outcome>, Failure | BackendError>>(engine, operation, { copy, ending: AS_IT_IS });
}

const AS_IT_IS = { told: <Told>(result: Told): Told => result, broken: () => undefined };

/** An operation that is about to be carried out. */
interface Start<Outcome, Failure, Told> {
  readonly copy: ShardCopy;
  readonly ending: Ending<Outcome, Failure, Told>;
}

/**
 * The same for a caller that has something to do in the end. It is done where the answer comes in, and the only promise is that
 * of what is told: every durable checkpoint comes by here, and with an async function for each layer their promises
 * take as long as its decision.
 *
 * What is wrong with the call itself is thrown at once, and then `ending` is not heard of.
 */
export function carryOut<Outcome, Failure, Told>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  start: Start<Outcome, Failure, Told>,
): Eventually<Told> {
  const { copy, ending } = start;
  if (operation.needs !== undefined) return inSteps(engine, operation, start);
  const clock = engine.readClock(operation.name);
  if (clock instanceof Promise || !clock.ok) return inSteps(engine, operation, start, { clock });
  const loaded = copy.read === undefined ? askForShard(engine, operation) : undefined;
  if (loaded instanceof Promise || loaded?.ok === false) return inSteps(engine, operation, start, { clock, loaded });
  // Nothing was waited for since the read began, so it tells of all that has been added.
  if (loaded !== undefined) settleUnresolved(engine, operation, loaded.value, engine.unresolvedShards.addedCount);

  const read = copy.read ?? loaded!.value;
  const decided = operation.decide({ run: read.run?.record, shard: read.shard?.record, other: undefined }, clock.value);
  if (!decided.ok) {
    copy.read = undefined;
    // What rests on a copy that is no longer so must not be told, nor tried again from the same copy.
    return loaded === undefined ? inSteps(engine, operation, start, { clock }) : ending.told(decided);
  }
  const attempt = toAttempt(engine, operation, { read, now: clock.value, transition: decided.value });
  if (attempt === undefined) return inSteps(engine, operation, start, { clock, loaded });
  if (!engine.answersAtOnce) {
    return new Promise((resolve, reject) => {
      engine.commitFor(new CommitUnderWay(engine, operation, { start, attempt, resolve, reject }));
    });
  }
  const answer = engine.commitAtOnce(attempt.set);
  if (answer.kind === "Committed") return ending.told(ok(keep(engine, operation, { copy, attempt, answer })));
  drop(engine, operation, { copy, attempt, answer });
  return inSteps(engine, operation, start, { clock });
}

async function inSteps<Outcome, Failure, Told>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, ending }: Start<Outcome, Failure, Told>,
  begun: Begun = {},
): Promise<Told> {
  try {
    return ending.told(await runInSteps(engine, operation, copy, begun));
  } catch (reason) {
    ending.broken();
    throw reason;
  }
}

/** What it takes to settle a promise with what becomes of an attempt. */
interface Settling<Outcome, Failure, Told> {
  readonly start: Start<Outcome, Failure, Told>;
  readonly attempt: Attempt<Outcome>;
  readonly resolve: (told: Eventually<Told>) => void;
  readonly reject: (reason: unknown) => void;
}

/** An attempt whose write is on its way. A class, so that no functions are made for each. */
class CommitUnderWay<Outcome, Failure, Told> implements Waiting {
  readonly set: WriteSet;
  readonly #engine: Engine;
  readonly #operation: ShardOperation<Outcome, Failure>;
  readonly #settling: Settling<Outcome, Failure, Told>;

  constructor(engine: Engine, operation: ShardOperation<Outcome, Failure>, settling: Settling<Outcome, Failure, Told>) {
    this.set = settling.attempt.set;
    this.#engine = engine;
    this.#operation = operation;
    this.#settling = settling;
  }

  answered(answer: CommitAnswer): void {
    const { start, attempt, resolve } = this.#settling;
    const { copy, ending } = start;
    try {
      if (answer.kind === "Committed") return resolve(ending.told(ok(keep(this.#engine, this.#operation, { copy, attempt, answer }))));
      drop(this.#engine, this.#operation, { copy, attempt, answer });
    } catch (reason) {
      return this.failed(reason);
    }
    resolve(inSteps(this.#engine, this.#operation, start, { refused: answer }));
  }

  failed(reason: unknown): void {
    this.#settling.start.ending.broken();
    this.#settling.reject(reason);
  }
}
