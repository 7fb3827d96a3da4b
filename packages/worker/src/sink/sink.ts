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

export interface ShardSink<I extends Item = Item, R = unknown> {
  /** In the order of keys, only over a prefix of finished items, and never while a `flush` is waited for. Must not wait. */
  write(item: I, result: R): void;

  /** Make durable what was written; the bytes say how much there is. At most `MAX_TOKEN_SIZE`. One is waited for at a time. */
  flush(): Promise<Uint8Array>;

  /** The shard is left: done, parked, released or lost. What was not flushed may be dropped. */
  close(): Promise<void>;
}
