import type { Item, ShardSink, Sink, SinkRequest, SkippedItem } from "@gossip/worker";
import { decodeTotalsToken, encodeTotalsToken, NO_ITEMS, type ItemTotals } from "./item-totals.ts";

const NO_TOKEN = /* @__PURE__ */ new Uint8Array(0);

/** A sink that counts results and skipped items, and passes them on to another sink if there is one. */
export function countingSink<I extends Item, R>(inner?: Sink<I, R>): Sink<I, R> {
  return {
    async open(request: SinkRequest): Promise<ShardSink<I, R>> {
      const before = decodeTotalsToken(request.token);
      const token = before === undefined || before.inner.length === 0 ? undefined : before.inner;
      return new CountingShardSink(before ?? NO_ITEMS, await inner?.open({ ...request, token }));
    },
  };
}

class CountingShardSink<I extends Item, R> implements ShardSink<I, R> {
  readonly #inner: ShardSink<I, R> | undefined;
  #items: number;
  #failed: number;
  #unreadable: number;

  constructor(before: ItemTotals, inner: ShardSink<I, R> | undefined) {
    this.#items = before.items;
    this.#failed = before.failed;
    this.#unreadable = before.unreadable;
    this.#inner = inner;
  }

  write(item: I, result: R): void {
    // First, because the inner sink may refuse the result.
    this.#inner?.write(item, result);
    this.#items++;
  }

  skip(skipped: SkippedItem<I>): void {
    this.#inner?.skip?.(skipped);
    if (skipped.kind === "Problem") this.#unreadable++;
    else {
      this.#items++;
      this.#failed++;
    }
  }

  async flush(): Promise<Uint8Array> {
    // Read the totals before awaiting: results written meanwhile belong to the next flush, as in the inner sink.
    const totals = { items: this.#items, failed: this.#failed, unreadable: this.#unreadable };
    return encodeTotalsToken(totals, (await this.#inner?.flush()) ?? NO_TOKEN);
  }

  async close(): Promise<void> {
    await this.#inner?.close();
  }
}
