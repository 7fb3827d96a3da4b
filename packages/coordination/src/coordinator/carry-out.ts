import type { BackendError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { Waiting } from "./commit-queue.ts";
import type { Engine } from "./engine.ts";
import { askForShard, runInSteps, type Begun } from "./run-in-steps.ts";
import { drop, keep, settleUnresolved, toSet, type Attempt } from "./shard-attempt.ts";
import { ShardCopy } from "./shard-copy.ts";
import type { Settled, ShardOperation } from "./shard-operation.ts";

/** Whose operation it is: what it starts from, and what is done where it ends. One of the two, once. */
export interface Caller<Outcome, Failure, Told> {
  readonly copy: ShardCopy;
  /** Say what the caller is told of what became of it. */
  told(result: Result<Settled<Outcome>, Failure | BackendError>): Told;
  /** Hear that `told` will not be called, or has thrown: the program is wrong, and the caller's promise, where it has one, is rejected. */
  broken(reason: unknown): void;
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
  return carryOut(engine, operation, new PlainCaller<Outcome, Failure | BackendError>(copy));
}

/** Is told what became of it as it is. */
class PlainCaller<Outcome, Failure> implements Caller<Outcome, Failure, Result<Settled<Outcome>, Failure>> {
  readonly copy: ShardCopy;

  constructor(copy: ShardCopy) {
    this.copy = copy;
  }

  told(result: Result<Settled<Outcome>, Failure>): Result<Settled<Outcome>, Failure> {
    return result;
  }

  broken(): void {}
}

/**
 * The same for a caller that has something to do in the end. It is done where the answer comes in, and the only promise is that
 * of what is told: every durable checkpoint comes by here, and with an async function for each layer their promises
 * take as long as its decision.
 *
 * What is wrong with the call itself is thrown at once, and then the caller hears of nothing else.
 */
export function carryOut<Outcome, Failure, Told>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  caller: Caller<Outcome, Failure, Told>,
): Eventually<Told> {
  return begin(engine, operation, caller, true) as Eventually<Told>;
}

/** `carryOut` for a caller to whom `told` and `broken` say all there is to hear: no promise is made of it. A claim has hundreds under way. */
export function carryOutUnpromised<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  caller: Caller<Outcome, Failure, void>,
): void {
  leave(begin(engine, operation, caller, false));
}

/** What is told, or a promise of it; where none is wanted, nothing may be returned in its place. */
function begin<Outcome, Failure, Told>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  caller: Caller<Outcome, Failure, Told>,
  isPromised: boolean,
): Eventually<Told> | undefined {
  const { copy } = caller;
  if (operation.needs !== undefined) return inSteps(engine, operation, caller);
  const clock = engine.readClock(operation.name);
  if (clock instanceof Promise || !clock.ok) return inSteps(engine, operation, caller, { clock });
  const loaded = copy.read === undefined ? askForShard(engine, operation) : undefined;
  if (loaded instanceof Promise || loaded?.ok === false) return inSteps(engine, operation, caller, { clock, loaded });
  // Nothing was waited for since the read began, so it tells of all that has been added.
  if (loaded !== undefined) settleUnresolved(engine, operation, loaded.value, engine.unresolvedShards.addedCount);

  const read = copy.read ?? loaded!.value;
  const decided = operation.decide({ run: read.run?.record, shard: read.shard?.record, other: undefined }, clock.value);
  if (!decided.ok) {
    copy.read = undefined;
    // What rests on a copy that is no longer so must not be told, nor tried again from the same copy.
    return loaded === undefined ? inSteps(engine, operation, caller, { clock }) : caller.told(decided);
  }
  const transition = decided.value;
  const set = toSet(engine, operation, read, transition, clock.value);
  if (set === undefined) return inSteps(engine, operation, caller, { clock, loaded });
  if (!engine.answersAtOnce) {
    const underWay = new CommitUnderWay(engine, operation, caller, { read, transition, set });
    return isPromised ? underWay.begin() : underWay.send();
  }
  const answer = engine.commitAtOnce(set);
  if (answer.kind === "Committed")
    return caller.told(ok(keep(engine, operation, copy, { read, transition, set }, answer)));
  drop(engine, operation, copy, { read, transition, set }, answer);
  return inSteps(engine, operation, caller, { clock });
}

async function inSteps<Outcome, Failure, Told>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  caller: Caller<Outcome, Failure, Told>,
  begun: Begun = {},
): Promise<Told> {
  try {
    return caller.told(await runInSteps(engine, operation, caller.copy, begun));
  } catch (reason) {
    caller.broken(reason);
    throw reason;
  }
}

/** Do nothing about what a caller has been told, or will be. It hears of a rejection too, so nobody else need. */
function leave(told: unknown): void {
  if (told instanceof Promise) told.catch(leave);
}

/** An attempt, and that its write is on its way. A class, so that no functions are made for each. */
class CommitUnderWay<Outcome, Failure, Told> implements Waiting, Attempt<Outcome> {
  readonly set: Attempt<Outcome>["set"];
  readonly read: Attempt<Outcome>["read"];
  readonly transition: Attempt<Outcome>["transition"];
  readonly #engine: Engine;
  readonly #operation: ShardOperation<Outcome, Failure>;
  readonly #caller: Caller<Outcome, Failure, Told>;
  #resolve: (told: Eventually<Told>) => void = leave;
  #reject: (reason: unknown) => void = leave;

  constructor(
    engine: Engine,
    operation: ShardOperation<Outcome, Failure>,
    caller: Caller<Outcome, Failure, Told>,
    attempt: Attempt<Outcome>,
  ) {
    this.set = attempt.set;
    this.read = attempt.read;
    this.transition = attempt.transition;
    this.#engine = engine;
    this.#operation = operation;
    this.#caller = caller;
  }

  /** Send the write. The promise is settled with what becomes of the attempt. */
  begin(): Promise<Told> {
    beginning = this as CommitUnderWay<unknown, unknown, unknown>;
    const told = new Promise<unknown>(keepResolvers);
    this.send();
    return told as Promise<Told>;
  }

  /** Send the write. Nobody hears of it but the caller. */
  send(): undefined {
    this.#engine.commitFor(this);
  }

  settleWith(resolve: (told: Eventually<Told>) => void, reject: (reason: unknown) => void): void {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  answered(answer: CommitAnswer): void {
    const caller = this.#caller;
    const { copy } = caller;
    const resolve = this.#resolve;
    try {
      if (answer.kind === "Committed")
        return resolve(caller.told(ok(keep(this.#engine, this.#operation, copy, this, answer))));
      drop(this.#engine, this.#operation, copy, this, answer);
    } catch (reason) {
      return this.failed(reason);
    }
    resolve(inSteps(this.#engine, this.#operation, caller, { refused: answer }));
  }

  failed(reason: unknown): void {
    this.#caller.broken(reason);
    this.#reject(reason);
  }
}

// A promise calls what makes it before it is there. So the one that is just being made can be found here, and no function is needed that knows it.
let beginning: CommitUnderWay<unknown, unknown, unknown>;
function keepResolvers(resolve: (told: unknown) => void, reject: (reason: unknown) => void): void {
  beginning.settleWith(resolve, reject);
}
