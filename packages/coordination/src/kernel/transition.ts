import type { ShardStatus } from "@gossip/contracts";
import type { ErrorKind, ErrorOf, ErrorOfKind, Operation } from "@gossip/coordination-errors";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { NoteWrite } from "../records/note.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/**
 * What an operation would do: its outcome, the writes that must be stored before the outcome is returned, and the
 * events to emit after that.
 *
 * The kernel decides and changes nothing. A refusal has no transition.
 */
export interface Transition<Outcome, Writes extends RecordWrites = RecordWrites> {
  readonly outcome: Outcome;
  /** `undefined` for a replay: everything is stored already. */
  readonly writes: Writes | undefined;
  readonly events: readonly CoordinationEvent[];
}

/** What must be stored, all of it or nothing. */
export type RecordWrites = UpdateShard | SplitShard | PutRun | RemoveRun;

/** One shard changes. */
export interface UpdateShard {
  readonly kind: "UpdateShard";
  readonly shard: ShardRecord;
  /** Whether the decision rests on the run as it was read, so that the run must not have changed since. */
  readonly needsRun: boolean;
  /** Notes of the run to write with the shard; `undefined` for none. *Addition.* */
  readonly notes: readonly NoteWrite[] | undefined;
}

/** A shard changes and new ones appear. Always rests on the run as it was read. */
export interface SplitShard {
  readonly kind: "SplitShard";
  readonly shard: ShardRecord;
  readonly created: readonly ShardRecord[];
}

/** A run appears or changes, and with it perhaps its first shards. */
export interface PutRun {
  readonly kind: "PutRun";
  readonly run: RunRecord;
  readonly created: readonly ShardRecord[];
  /** The run must have no shard in one of these states when this is stored. */
  readonly noShardsIn: readonly ShardStatus[];
}

/** A run and all its shards go, and leave a mark that the run's id was used. */
export interface RemoveRun {
  readonly kind: "RemoveRun";
}

/** How the kernel can refuse `Op`: in all ways except failures of a store. */
export type Refusal<Op extends Operation> = Exclude<ErrorOf<Op>, ErrorOfKind<StoreFailure>>;

type StoreFailure = Extract<ErrorKind, "BackendError" | "ResourceExhausted" | "ShardLimitExceeded">;

const NO_EVENTS: readonly CoordinationEvent[] = /* @__PURE__ */ Object.freeze([]);

/** The transition of a replay. */
export function nothingToDo<Outcome>(outcome: Outcome): Transition<Outcome, never> {
  return { outcome, writes: undefined, events: NO_EVENTS };
}
