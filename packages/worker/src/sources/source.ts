import type { RangeInput, ShardSpec } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import type { SourceError } from "./source-error.ts";
import type { EstimateRequest, WorkEstimate } from "./work-estimate.ts";

/** One item to work on. Sources add fields of their own. */
export interface Item {
  /** Its position in the key space. Ranges and cursors refer to it. */
  readonly key: Uint8Array;
}

/**
 * Something at `key` that the source cannot return as an item. It is reported and skipped, and progress moves past its
 * key as it does for an item: a reading after that key does not report it again.
 */
export interface ItemProblem {
  /** Inside the range, like an item's key. */
  readonly key: Uint8Array;
  /** One sentence for users. It contains neither credentials nor the key itself. */
  readonly reason: string;
}

/**
 * Items and problems in key order. Sources return batches because a promise per item costs more than most items do. A
 * batch may be empty.
 */
export interface ItemBatch<I extends Item = Item> {
  readonly items: readonly I[];
  readonly problems?: readonly ItemProblem[];
}

export interface PlanRequest {
  /** How many shards are wanted. A source returns about that many, never more, and at least one. */
  readonly shardCount: number;
  readonly signal?: AbortSignal;
}

export interface ReadRequest {
  readonly range: RangeInput;
  /** Read only keys above this one: everything up to it is done. */
  readonly after?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface SplitRequest {
  readonly range: RangeInput;
  readonly after?: Uint8Array | undefined;
  /** Keys read recently, in order. They show where the data is. */
  readonly samples: readonly Uint8Array[];
}

/**
 * A key space with items at its keys. It can be read from any key, in byte order. Reading a range again gives the same
 * keys in the same order, except for what was added or removed in between. A source keeps no state between calls that
 * another process would need: every worker creates its own from the same settings.
 */
export interface Source<I extends Item = Item> {
  /** A name for users and telemetry: `fs`, `lines`, `postgres`. */
  readonly name: string;

  /** Plan the first shards of a run: adjacent ranges that together cover every present and future item. */
  plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>>;

  /**
   * Read the items of a range. Throws if it cannot continue: the runtime then waits and reads again from the current
   * position, a few times, and finally parks the shard.
   */
  read(request: ReadRequest): AsyncIterable<ItemBatch<I>>;

  /**
   * A key where half of the remaining work is expected: strictly above `after` and inside the range, or `undefined` if
   * the source knows of no such key. Without this method, the runtime decides by the keys that it has read, which is
   * exact near the end of a range and an estimate before that. Work continues meanwhile, so the result may arrive too
   * late to be used.
   */
  splitPoint?(request: SplitRequest): Promise<Uint8Array | undefined>;

  /**
   * Estimate how many items there are and where, for a progress display. The result is advice: it may be wrong, and
   * nothing but the display depends on it.
   *
   * Each yielded estimate replaces the one before. A source that knows at once (from statistics, or because it holds
   * its items) yields one estimate and ends. A source that has to count yields what it knows so far after every few
   * milliseconds of work, and ends when the count is complete. The caller controls the cost: it pauses between the
   * steps, and stops the iteration whenever it likes. A source that cannot estimate yields nothing or throws.
   */
  estimate?(request: EstimateRequest): AsyncIterable<WorkEstimate>;

  /** A key in readable form. Default: hexadecimal digits. */
  describeKey?(key: Uint8Array): string;

  /**
   * Close what the source holds open. Sources that hold nothing between calls do not need it.
   *
   * For the owner of the source to call, once nothing of it is being read. `startRun` and `runWorkers` never call it:
   * one source can serve both, for several runs.
   */
  close?(): Promise<void>;
}
