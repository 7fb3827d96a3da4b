import type { LogicalTime } from "@gossip/contracts";
import type { SplitShard, Transition, UpdateShard } from "../kernel/transition.ts";
import type { CommitAnswer, Committed } from "../store/commit-answer.ts";
import type { ShardRead } from "../store/store-reads.ts";
import type { SplitShardSet, UpdateShardSet } from "../store/write-set.ts";
import type { Engine } from "./engine.ts";
import { readAfter, toWriteSet, type ShardCopy } from "./shard-copy.ts";
import type { Settled, ShardOperation } from "./shard-operation.ts";
import type { Place } from "./unresolved-writes.ts";

/** A decision that leads to a write. */
export interface Attempt<Outcome> {
  readonly read: ShardRead;
  readonly transition: Transition<Outcome, UpdateShard | SplitShard>;
  readonly set: UpdateShardSet | SplitShardSet;
}

/** What a decision writes, guarded by what it rests on; `undefined` where that is nothing. */
export function toSet<Outcome, Failure>(
  { limits }: Engine,
  { key, wantsHint }: ShardOperation<Outcome, Failure>,
  read: ShardRead,
  { writes }: Transition<Outcome, UpdateShard | SplitShard>,
  now: LogicalTime,
): Attempt<Outcome>["set"] | undefined {
  return writes && toWriteSet(key, { read, writes, hintAt: wantsHint ? now : undefined, limits });
}

/** The answer to a write that was not made, or that may not have been. */
export type NotMade = Exclude<CommitAnswer, Committed>;

/** Take note that an attempt's write was made. Every write comes by here, so that nothing is put together to be taken apart. */
export function keep<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  copy: ShardCopy,
  { read, set, transition }: Attempt<Outcome>,
  answer: Committed,
): Settled<Outcome> {
  copy.read = readAfter(read, set, answer.version);
  // No place is named unless there is something to forget.
  if (!engine.unresolvedShards.isEmpty) engine.unresolvedShards.forget(placeOf(operation), set.shard.guard);
  if (engine.events.isHeard) engine.emit(transition.events);
  return { outcome: transition.outcome, hint: answer.hint, read: copy.read };
}

/** Take note that it was not, or that nobody knows. */
export function drop<Outcome, Failure>(
  engine: Engine,
  operation: ShardOperation<Outcome, Failure>,
  copy: ShardCopy,
  { set, transition }: Attempt<Outcome>,
  answer: NotMade,
): void {
  copy.read = undefined;
  if (answer.kind === "Unknown")
    engine.unresolvedShards.add(placeOf(operation), { write: set.shard, events: transition.events });
}

/** Tell the events of earlier writes that turn out to have been made, now that their shard was read; see `UnresolvedWrites.settle`. */
export function settleUnresolved(
  engine: Engine,
  operation: Pick<ShardOperation<never, never>, "tenant" | "key">,
  { shard }: ShardRead,
  addedCount: number,
): void {
  // Nearly always: no place is named unless there is something to settle.
  if (engine.unresolvedShards.isEmpty) return;
  engine.emit(engine.unresolvedShards.settle(placeOf(operation), shard, { addedCount }));
}

function placeOf({ tenant, key: { run, shard } }: Pick<ShardOperation<never, never>, "tenant" | "key">): Place {
  return { tenant, run, shard };
}
