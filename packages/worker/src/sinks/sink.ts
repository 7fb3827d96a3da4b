import type { FenceEpoch, ShardKey } from "@gossip/contracts";
import type { Item } from "../sources/source.ts";

export interface SinkRequest {
  readonly shard: ShardKey;
  /** The fence of the lease that writes. A later holder of the shard has a higher one. */
  readonly fence: FenceEpoch;
  /** The last token from `flush` that was checkpointed, by any holder of the shard. */
  readonly token: Uint8Array | undefined;
}

/**
 * Stores results so that each counts once. A result passed to `write` counts only when the token of a later `flush` has
 * been checkpointed. The token is stored in the shard's cursor, so results and progress are committed in one write.
 * Results that a holder wrote after its last checkpoint do not count; the next holder writes them again.
 */
export interface Sink<I extends Item = Item, R = unknown> {
  open(request: SinkRequest): Promise<ShardSink<I, R>>;
}

/**
 * A key that progress moves past without a result.
 *
 * - `Problem`: the source could not read it; `reason` is the source's message.
 * - `Failure`: `process` failed for good, and `onItemFailure` is `skip`. `cause` is what it threw last.
 */
export type SkippedItem<I extends Item = Item> =
  | { readonly kind: "Problem"; readonly key: Uint8Array; readonly reason: string }
  | {
      readonly kind: "Failure";
      readonly key: Uint8Array;
      readonly item: I;
      readonly attempts: number;
      readonly cause: unknown;
    };

export interface ShardSink<I extends Item = Item, R = unknown> {
  /**
   * Called in key order, only for a prefix of finished items, and never while a `flush` is pending. Must not block.
   *
   * If it throws a `SinkFailed` of kind `NotJson` or `ResultTooLarge`, the item fails, and nothing of it may have been
   * written. Any other exception ends the work: results cannot be stored.
   */
  write(item: I, result: R): void;

  /**
   * Called for a skipped key, in order with `write`. What the sink records about it counts with the next token, in the
   * write that moves progress past the key. Optional.
   */
  skip?(skipped: SkippedItem<I>): void;

  /**
   * Make everything written so far durable, and return a token that describes it, of at most `MAX_TOKEN_SIZE` bytes.
   * Only one flush is pending at a time.
   */
  flush(): Promise<Uint8Array>;

  /** The hold ended: completed, parked, released or lost. Results that were not flushed may be dropped. */
  close(): Promise<void>;
}
