import type { FenceEpoch, ShardKey } from "@gossip/contracts";
import type { Item } from "../source/source.ts";

export interface SinkRequest {
  readonly shard: ShardKey;
  /** Of the lease that writes. A later holder of the shard has a higher one. */
  readonly fence: FenceEpoch;
  /** What `flush` last gave that was checkpointed, whoever held the shard then. */
  readonly token: Uint8Array | undefined;
}

/**
 * Where results go so that each counts once. What `write` was given counts only when the token
 * of a later `flush` has been checkpointed: the token travels in the shard's cursor, so results
 * and progress become true in one write. What a holder wrote after its last checkpoint is
 * left behind, and written again by the next.
 */
export interface Sink<I extends Item = Item, R = unknown> {
  open(request: SinkRequest): Promise<ShardSink<I, R>>;
}

/**
 * A key that progress moves past without a result.
 *
 * - `Problem` — the source could not offer what is there; `reason` is the source's sentence.
 * - `Failure` — `process` failed for good, and `onItemFailure` is `skip`.
 */
export type SkippedItem =
  | { readonly kind: "Problem"; readonly key: Uint8Array; readonly reason: string }
  | { readonly kind: "Failure"; readonly key: Uint8Array };

export interface ShardSink<I extends Item = Item, R = unknown> {
  /** In the order of keys, only over a prefix of finished items, and never while a `flush` is waited for. Must not wait. */
  write(item: I, result: R): void;

  /**
   * A key is passed over, in order with `write`. What the sink notes about it counts with the next token, in the write that
   * moves progress past the key. Absent: the sink has no use for it.
   */
  skip?(skipped: SkippedItem): void;

  /** Make durable what was written; the bytes say how much there is. At most `MAX_TOKEN_SIZE`. One is waited for at a time. */
  flush(): Promise<Uint8Array>;

  /** The shard is left: done, parked, released or lost. What was not flushed may be dropped. */
  close(): Promise<void>;
}
