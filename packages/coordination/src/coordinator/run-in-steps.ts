import type { LogicalTime } from "@gossip/contracts";
import type { BackendError, InfraError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { CapacityHint } from "../records/capacity-hint.ts";
import type { Eventually } from "../store/coordination-store.ts";
import type { ShardRead } from "../store/store-reads.ts";
import type { Attempts, Engine } from "./engine.ts";
import { drop, keep, settleUnresolved, toSet, type NotMade } from "./shard-attempt.ts";
import type { ShardCopy } from "./shard-copy.ts";
import type { Settled, ShardOperation } from "./shard-operation.ts";
import { noRoom } from "./write-refusals.ts";

/** What has been done of an operation before it is run in steps. */
export interface Begun {
  /** The time, where the clock has been asked for it. */
  readonly clock?: Eventually<Result<LogicalTime, BackendError>>;
  /** The shard, where the store has just been asked for it. */
  readonly loaded?: Eventually<Result<ShardRead, InfraError>> | undefined;
  /** The answer to its first write. */
  readonly refused?: NotMade;
}

/** Carry an operation out, waiting for each thing that it takes. */
export async function runInSteps<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  copy: ShardCopy,
  begun: Begun,
): Promise<Result<Settled<Outcome>, Failure | BackendError>> {
  const attempts: Attempts = { operation: operation.name, count: 0 };
  if (begun.refused !== undefined) {
    const again = await tryAgain(engine, operation, begun.refused, attempts);
    if (!again.ok) return again;
  }
  let reading = begun.clock;
  let loading = begun.loaded;
  for (;;) {
    // Neither the time nor a copy is waited for where it is there.
    const told = reading ?? engine.readClock(operation.name);
    reading = undefined;
    const now = told instanceof Promise ? await told : told;
    if (!now.ok) return now;
    const isCopy = copy.read !== undefined;
    const { addedCount } = engine.unresolvedShards;
    const loaded = copy.read === undefined ? await loadShard(engine, operation, attempts, loading) : ok(copy.read);
    loading = undefined;
    if (!loaded.ok) return loaded;
    const read = loaded.value;
    if (!isCopy) settleUnresolved(engine, operation, read, addedCount);
    const otherKey = read.shard && operation.needs?.(read.shard.record);
    const other =
      otherKey === undefined
        ? undefined
        : await loadShard(engine, { tenant: operation.tenant, key: otherKey }, attempts, undefined);
    if (other?.ok === false) return other;

    const situation = { run: read.run?.record, shard: read.shard?.record, other: other?.value.shard?.record };
    const decided = operation.decide(situation, now.value);
    if (!decided.ok) {
      copy.read = undefined;
      if (isCopy) continue;
      return decided;
    }
    const transition = decided.value;
    const set = toSet(engine, operation, read, transition, now.value);
    if (set === undefined) {
      copy.read = read;
      return ok({ outcome: transition.outcome, hint: await readHint(engine, operation, now.value), read });
    }
    const answer = await engine.commit(set);
    if (answer.kind === "Committed") return ok(keep(engine, operation, copy, { read, transition, set }, answer));
    drop(engine, operation, copy, { read, transition, set }, answer);
    const again = await tryAgain(engine, operation, answer, attempts);
    if (!again.ok) return again;
  }
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

/** Ask the store for an operation's shard. */
export function askForShard(
  { store }: Engine,
  { tenant, key: { run, shard }, readShard }: Pick<ShardOperation<never, never>, "tenant" | "key" | "readShard">,
): Eventually<Result<ShardRead, InfraError>> {
  return readShard === undefined ? store.readShard(tenant, { run, shard }) : readShard();
}

/** `first` is the first answer, where the store has been asked. */
function loadShard(
  engine: Engine,
  operation: Parameters<typeof askForShard>[1],
  attempts: Attempts,
  first: Begun["loaded"],
): Promise<Result<ShardRead, BackendError>> {
  let answer = first;
  return engine.read(attempts, () => {
    const given = answer ?? askForShard(engine, operation);
    answer = undefined;
    return given;
  });
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
