import type { WorkerSession } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { SinkFailed } from "../sinks/sink-failed.ts";
import type { ShardSink, Sink, SkippedItem } from "../sinks/sink.ts";
import type { Item } from "../sources/source.ts";

/** A result that was not written. */
export interface NotWritten {
  /** Whether the fault is in this result, and others can be written. */
  readonly isRefused: boolean;
  readonly cause: unknown;
}

/** The results of one hold: the caller's sink, from open to close, if there is one. */
export class ShardResults<I extends Item, R> {
  readonly #sink: Sink<I, R> | undefined;
  readonly #onFailure: (cause: unknown) => void;
  #open: ShardSink<I, R> | undefined;

  /** `onFailure` is called if results cannot be written. Nothing may be written after that. */
  constructor(sink: Sink<I, R> | undefined, onFailure: (cause: unknown) => void) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  async open({ shardKey: shard, lease: { fence }, cursor: { token } }: WorkerSession): Promise<void> {
    try {
      this.#open = await this.#sink?.open({ shard, fence, token });
    } catch (cause) {
      this.#onFailure(cause);
    }
  }

  /**
   * Hot: called for every item. Returns `undefined` if the result was written, otherwise why not. A fault of the sink
   * has been reported by then.
   */
  write(item: I, result: R): NotWritten | undefined {
    if (this.#open === undefined) return undefined;
    try {
      this.#open.write(item, result);
      return undefined;
    } catch (cause) {
      const isRefused = cause instanceof SinkFailed && cause.isResultFault;
      if (!isRefused) this.#onFailure(cause);
      return { isRefused, cause };
    }
  }

  /** Returns `false` if the sink failed. */
  skip(skipped: SkippedItem<I>): boolean {
    try {
      this.#open?.skip?.(skipped);
      return true;
    } catch (cause) {
      this.#onFailure(cause);
      return false;
    }
  }

  async flush(): Promise<Uint8Array> {
    assert(this.#open !== undefined, "there is nothing to flush before the sink is open");
    return this.#open.flush();
  }

  async close(): Promise<void> {
    try {
      await this.#open?.close();
    } catch {
      // Results that were not flushed may be lost, so a failed close changes nothing.
    }
  }
}
