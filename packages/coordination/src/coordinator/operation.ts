import type { LogicalTime } from "@gossip/contracts";
import type { BackendError, Operation as OperationName } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { RecordWrites, Transition } from "../kernel/transition.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { StoreAnswer } from "../store/coordination-store.ts";
import type { StoreVersion } from "../store/store-reads.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { Attempts } from "./engine.ts";
import type { WriteRefusal } from "./write-refusals.ts";

/** One operation as `execute` runs it: the record that it changes, and the kernel's decision. */
export interface Operation<Read, Writes extends RecordWrites, Outcome, Failure> {
  readonly name: OperationName;
  readonly target: Target<Read, Writes>;
  readonly decide: (read: Read, now: LogicalTime) => Result<Transition<Outcome, Writes>, Failure>;
  /** The error to return for a write that the store refused for good. */
  readonly refuse: (refusal: WriteRefusal) => Failure | BackendError;
  /** Reads what the decision needs beside the record. */
  readonly readMore?:
    | ((read: Read, now: LogicalTime, attempts: Attempts) => Promise<Result<Read, BackendError>>)
    | undefined;
  /**
   * For an operation without an op id: its result after a write with an unknown outcome, if the record shows one.
   * Other operations are simply decided again, which replays them.
   */
  readonly resolve?: ((read: Read) => Result<Outcome, Failure> | undefined) | undefined;
}

/** A record as its holder last saw it; `undefined` if it must be read. */
export interface Copy<Read> {
  read: Read | undefined;
}

/** The record that an operation reads and writes: a shard or a run. */
export interface Target<Read, Writes extends RecordWrites> {
  read(): StoreAnswer<Read>;
  /** The write set of a decision, guarded by the versions that it rests on. */
  toWriteSet(read: Read, writes: Writes, now: LogicalTime): WriteSet;
  /** What a read returns once the writes are committed. */
  after(read: Read, writes: Writes, version: StoreVersion): Read;
  /** The run's capacity, if the operation's result includes it. */
  readHint(now: LogicalTime): Promise<CapacityHint | undefined>;

  /** How many writes have had an unknown outcome so far. Take it before a read, for `settleLost`. */
  readonly lostCount: number;
  /** The events of writes with an unknown outcome that `read` shows to have been made. */
  settleLost(read: Read, lostBefore: number): readonly CoordinationEvent[];
  /** Remember a write with an unknown outcome. */
  rememberLost(read: Read, writes: Writes, events: readonly CoordinationEvent[]): void;
  /** Forget lost writes that can no longer be made, because another one took their version. */
  forgetLost(read: Read): void;
}
