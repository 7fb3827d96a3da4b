import type { LogicalTime, ShardKey, TenantId } from "@gossip/contracts";
import { coordError, InfraError, type BackendError, type ErrorOfKind, type Operation } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { LoadedShard } from "../kernel/find-shard.ts";
import type { SplitShard, Transition, UpdateShard } from "../kernel/transition.ts";
import { CapacityHint } from "../records/capacity-hint.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { CommitAnswer, Committed } from "../store/commit-answer.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { ShardRead } from "../store/store-reads.ts";
import type { SplitShardSet, UpdateShardSet } from "../store/write-set.ts";
import type { Attempts, Engine } from "./engine.ts";
import { readAfter, ShardCopy, toWriteSet } from "./shard-copy.ts";
import type { Place } from "./unresolved-writes.ts";

/** A write that a store would not make, for a reason that the operation must tell its caller. */
export type WriteRefusal = Extract<CommitAnswer, { readonly kind: "LimitExceeded" | "Exists" | "Exhausted" }>;

/** The answer to a write that was not made, or that may not have been. */
type NotMade = Exclude<CommitAnswer, Committed>;

/** What a decision about a shard rests on. */
export interface ShardSituation extends LoadedShard {
  /** The other shard that the operation needs, where it needs one. */
  readonly other: ShardRecord | undefined;
}

/** An operation on one shard: what the kernel decides, and what its caller hears where a store has no room. */
export interface ShardOperation<Outcome, Failure> {
  readonly name: Operation;
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly decide: (loaded: ShardSituation, now: LogicalTime) => Result<Transition<Outcome, UpdateShard | SplitShard>, Failure>;
  /** Whether the answer tells how much of the run is left to claim. */
  readonly wantsHint: boolean;
  /** Another shard of the run that the decision needs, where it needs one. */
  readonly needs?: (shard: ShardRecord) => ShardKey | undefined;
  readonly refuse?: (refusal: WriteRefusal) => Failure;
  /** Another way to read the shard. */
  readonly readShard?: () => Eventually<Result<ShardRead, InfraError>>;
}

/** What became of an operation. */
export interface Settled<Outcome> {
  readonly outcome: Outcome;
  /** `undefined` where nobody asked. */
  readonly hint: CapacityHint | undefined;
  /** The shard and its run as they are now: what the next operation may start from. */
  readonly read: ShardRead;
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
  if (copy.read === undefined || operation.needs !== undefined) return runInSteps(engine, operation, { copy });
  const told = engine.readClock(operation.name);
  // A clock that must be waited for is not asked again.
  if (told instanceof Promise || !told.ok) return runInSteps(engine, operation, { copy, told });
  const attempt = decideOnCopy(engine, operation, { copy, now: told.value });
  if (attempt === undefined) return runInSteps(engine, operation, { copy, told });
  if (!engine.answersAtOnce) return commitLater(engine, operation, { copy, attempt });
  const answer = engine.commitAtOnce(attempt.set);
  if (answer.kind === "Committed") return ok(keep(engine, operation, { copy, attempt, answer }));
  drop(engine, operation, { copy, attempt, answer });
  return runInSteps(engine, operation, { copy, told });
}

/** A decision that leads to a write. */
interface Attempt<Outcome> {
  readonly read: ShardRead;
  readonly transition: Transition<Outcome, UpdateShard | SplitShard>;
  readonly writes: UpdateShard | SplitShard;
  readonly set: UpdateShardSet | SplitShardSet;
}

/** Decide on a copy. `undefined` where that leads to no write: then nothing has happened, and the operation must be run in steps. */
function decideOnCopy<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, now }: { readonly copy: ShardCopy; readonly now: LogicalTime },
): Attempt<Outcome> | undefined {
  const read = copy.read!;
  const decided = operation.decide({ run: read.run?.record, shard: read.shard?.record, other: undefined }, now);
  if (decided.ok) return toAttempt(engine, operation, { read, now, transition: decided.value });
  // What rests on a copy that is no longer so must not be told, nor tried again from the same copy.
  copy.read = undefined;
  return undefined;
}

function toAttempt<Outcome, Failure>(
  { limits }: Engine,
  { key, wantsHint }: ShardOperation<Outcome, Failure>,
  { read, now, transition }: Pick<Attempt<Outcome>, "read" | "transition"> & { readonly now: LogicalTime },
): Attempt<Outcome> | undefined {
  const { writes } = transition;
  if (writes === undefined) return undefined;
  return { read, transition, writes, set: toWriteSet(key, { read, writes, hintAt: wantsHint ? now : undefined, limits }) };
}

/**
 * Send an attempt's write on its way. The rest is done where the answer comes in, without an async function in between: every
 * durable checkpoint comes by here, and the promises of one took as long as its decision.
 */
function commitLater<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, attempt }: { readonly copy: ShardCopy; readonly attempt: Attempt<Outcome> },
): Promise<Result<Settled<Outcome>, Failure | BackendError>> {
  return new Promise((resolve, reject) => {
    engine.commitFor({
      set: attempt.set,
      answered(answer) {
        try {
          if (answer.kind === "Committed") return resolve(ok(keep(engine, operation, { copy, attempt, answer })));
          drop(engine, operation, { copy, attempt, answer });
          resolve(goOnAfter(engine, operation, { copy, answer }));
        } catch (reason) {
          reject(reason);
        }
      },
      failed: reject,
    });
  });
}

/** What became of an attempt. */
interface Answered<Outcome, Answer extends CommitAnswer> {
  readonly copy: ShardCopy;
  readonly attempt: Attempt<Outcome>;
  readonly answer: Answer;
}

/** Take note that an attempt's write was made. */
function keep<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, attempt: { read, writes, set, transition }, answer }: Answered<Outcome, Committed>,
): Settled<Outcome> {
  copy.read = readAfter(read, writes, answer.version);
  // No place is named unless there is something to forget.
  if (!engine.unresolvedShards.isEmpty) engine.unresolvedShards.forget(placeOf(operation), set.shard.guard);
  engine.emit(transition.events);
  return { outcome: transition.outcome, hint: answer.hint, read: copy.read };
}

/** Take note that it was not, or that nobody knows. */
function drop<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, attempt: { set, transition }, answer }: Answered<Outcome, NotMade>,
): void {
  copy.read = undefined;
  if (answer.kind === "Unknown") engine.unresolvedShards.add(placeOf(operation), { write: set.shard, events: transition.events });
}

async function goOnAfter<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, answer }: { readonly copy: ShardCopy; readonly answer: NotMade },
): Promise<Result<Settled<Outcome>, Failure | BackendError>> {
  const attempts: Attempts = { operation: operation.name, count: 0 };
  const again = await tryAgain(engine, operation, answer, attempts);
  return again.ok ? runInSteps(engine, operation, { copy, attempts }) : again;
}

/** What has been done of an operation before it is run in steps. */
interface Begun {
  readonly copy: ShardCopy;
  /** The time, where it was asked for. */
  readonly told?: Eventually<Result<LogicalTime, BackendError>>;
  readonly attempts?: Attempts;
}

async function runInSteps<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  { copy, told: firstTold, attempts = { operation: operation.name, count: 0 } }: Begun,
): Promise<Result<Settled<Outcome>, Failure | BackendError>> {
  let reading = firstTold;
  for (;;) {
    // Neither the time nor a copy is waited for where it is there.
    const told = reading ?? engine.readClock(operation.name);
    reading = undefined;
    const now = told instanceof Promise ? await told : told;
    if (!now.ok) return now;
    const isCopy = copy.read !== undefined;
    const { addedCount } = engine.unresolvedShards;
    const loaded = copy.read === undefined ? await loadShard(engine, operation, attempts) : ok(copy.read);
    if (!loaded.ok) return loaded;
    const read = loaded.value;
    if (!isCopy) engine.emit(engine.unresolvedShards.settle(placeOf(operation), read.shard, { addedCount }));
    const otherKey = read.shard && operation.needs?.(read.shard.record);
    const other = otherKey === undefined ? undefined : await loadShard(engine, { tenant: operation.tenant, key: otherKey }, attempts);
    if (other?.ok === false) return other;

    const situation = { run: read.run?.record, shard: read.shard?.record, other: other?.value.shard?.record };
    const decided = operation.decide(situation, now.value);
    if (!decided.ok) {
      copy.read = undefined;
      if (isCopy) continue;
      return decided;
    }
    const attempt = toAttempt(engine, operation, { read, now: now.value, transition: decided.value });
    if (attempt === undefined) {
      copy.read = read;
      return ok({ outcome: decided.value.outcome, hint: await readHint(engine, operation, now.value), read });
    }
    const answer = await engine.commit(attempt.set);
    if (answer.kind === "Committed") return ok(keep(engine, operation, { copy, attempt, answer }));
    drop(engine, operation, { copy, attempt, answer });
    const again = await tryAgain(engine, operation, answer, attempts);
    if (!again.ok) return again;
  }
}

function placeOf({ tenant, key: { run, shard } }: Pick<ShardOperation<never, never>, "tenant" | "key">): Place {
  return { tenant, run, shard };
}

async function tryAgain<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  answer: NotMade,
  attempts: Attempts,
): Promise<Result<void, Failure | BackendError>> {
  switch (answer.kind) {
    case "Conflict":
      return engine.retryAfterConflict(attempts);
    case "Failed":
    case "Unknown":
      return engine.retryAfter(attempts, answer.error);
    case "LimitExceeded":
    case "Exists":
    case "Exhausted":
      return err(operation.refuse?.(answer) ?? noRoom(operation.name));
  }
}

/** What an operation answers that writes no bytes and creates nothing, where a store has no room for it all the same. */
function noRoom(operation: Operation): BackendError {
  const reason = InfraError.transient({ operation: `${operation}.commit`, message: "the store has no room for the write" });
  return coordError("BackendError", { reason });
}

/** How operations that write bytes tell that there is no room for them. */
export function refuseForRoom(operation: Operation): (refusal: WriteRefusal) => ErrorOfKind<"ResourceExhausted" | "BackendError"> {
  return (refusal) => {
    if (refusal.kind !== "Exhausted") return noRoom(operation);
    return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
  };
}

/** How splits tell what a store finds only when it writes. */
export function refuseSplit(refusal: WriteRefusal): ErrorOfKind<"SplitInvalid" | "ResourceExhausted"> {
  switch (refusal.kind) {
    case "LimitExceeded": {
      const { current, additional, max, scope } = refusal;
      return coordError("SplitInvalid", { reason: { kind: "ShardLimitExceeded", current, additional, max, scope } });
    }
    case "Exists":
      return coordError("SplitInvalid", { reason: { kind: "DerivedIdCollision", derivedId: refusal.shard } });
    case "Exhausted":
      return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
  }
}

function loadShard(
  engine: Engine,
  { tenant, key, readShard }: Pick<ShardOperation<never, never>, "tenant" | "key" | "readShard">,
  attempts: Attempts,
): Promise<Result<ShardRead, BackendError>> {
  return engine.read(attempts, readShard ?? (() => engine.store.readShard(tenant, key)));
}

async function readHint(
  engine: Engine,
  { wantsHint, tenant, key }: Pick<ShardOperation<never, never>, "wantsHint" | "tenant" | "key">,
  now: LogicalTime,
): Promise<CapacityHint | undefined> {
  if (!wantsHint) return undefined;
  const hint = await engine.store.readHint({ tenant, run: key.run, now });
  // Advice: where the store has none to give just now, the operation is done all the same.
  return hint.ok ? hint.value : CapacityHint.ZERO;
}
