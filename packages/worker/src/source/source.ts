import type { RangeInput, ShardSpec } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import type { SourceError } from "./source-error.ts";

/** One thing to be worked on. Sources add what they know of it. */
export interface Item {
  /** Its place in the keyspace: what ranges cut, what cursors remember. */
  readonly key: Uint8Array;
}

/**
 * Something at `key` that the source cannot offer as an item. It is reported and passed over, and progress moves past its key
 * as it does for an item: a reading after that key does not report it again.
 */
export interface ItemProblem {
  /** Inside the range, like an item's. */
  readonly key: Uint8Array;
  /** One sentence for a person. It holds neither credentials nor the key itself. */
  readonly reason: string;
}

/**
 * Items and problems in the order of their keys. Many at a time, because a promise for each
 * item costs more than most items do. An empty batch is allowed and says nothing.
 */
export interface ItemBatch<I extends Item = Item> {
  readonly items: readonly I[];
  readonly problems?: readonly ItemProblem[];
}

export interface PlanRequest {
  /** How many shards are wanted. A source gives about that many, never more, and at least one. */
  readonly shardCount: number;
  readonly signal?: AbortSignal;
}

export interface ReadRequest {
  readonly range: RangeInput;
  /** Only what is above this key is wanted: everything up to it has been done. */
  readonly after?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface SplitRequest {
  readonly range: RangeInput;
  readonly after?: Uint8Array | undefined;
  /** Keys that were read of late, in order: where the data is, as far as it is known. */
  readonly samples: readonly Uint8Array[];
}

/**
 * A keyspace with something at its keys. It can be read from any key on, in the order of
 * bytes, and a second reading of a range gives the same keys in the same order, but for what
 * was added or removed meanwhile. Sources hold no state between calls that a second process
 * would need: every worker makes its own from the same settings.
 */
export interface Source<I extends Item = Item> {
  /** For people and for telemetry: `fs`, `lines`, `postgres`. */
  readonly name: string;

  /** The first shards of a run: ranges that touch and together cover every item there is or will be. */
  plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>>;

  /**
   * The items of a range. Throws where it cannot go on: the runtime waits and reads again from
   * where the work stands, a few times, and then parks the shard.
   */
  read(request: ReadRequest): AsyncIterable<ItemBatch<I>>;

  /**
   * Where half of what remains is expected to lie: strictly above `after` and inside the range,
   * `undefined` where the source knows of no such key. Absent: the runtime decides by what it has read, which is exact at
   * the end of a range and a guess before that. The work goes on meanwhile, so an answer may be too late to be used.
   */
  splitPoint?(request: SplitRequest): Promise<Uint8Array | undefined>;

  /** A key as a person would write it. Absent: hexadecimal digits. */
  describeKey?(key: Uint8Array): string;

  /**
   * Give back what the source holds open. Absent: it holds nothing between calls.
   *
   * For whoever made the source, once nothing of it is being read. `startRun` and `runWorkers` never call it: one source serves
   * both, and run after run.
   */
  close?(): Promise<void>;
}
