import type { ShardSpec } from "@gossip/contracts";
import type { RunRequest } from "@gossip/coordination";
import { rangeShard } from "@gossip/frontier";
import { compareBytes, err, ok, unwrap, type Result } from "@gossip/stdx";
import {
  SourceReadFailed,
  type EstimateRequest,
  type Item,
  type ItemBatch,
  type PlanRequest,
  type ReadRequest,
  type Source,
  type SourceError,
  type WorkEstimate,
  type WorkSpan,
} from "@gossip/worker";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { rangesLeft } from "./failures-left.ts";
import { earlierEnd, endsBy, later, laterEnd, type RetryRange } from "./range-to-retry.ts";

export interface FailedItemsOptions {
  readonly opened: Pick<OpenedStore, "coordinator">;
  /** The run whose failures these are. It has ended, so no failure is added. */
  readonly request: RunRequest;
  /** Its retries that are done, in order. What succeeded in them is not tried again. */
  readonly doneRetries: readonly RunRequest[];
  readonly source: Source;
}

/** Narrower spans say no more about progress. */
const ITEMS_PER_SPAN = 64;

/**
 * The items of a source that failed in a run, read from the ledgers of the run and of its earlier retries. A file or folder
 * that is gone is no longer an item.
 *
 * The ledgers do not change while a retry works: finished items are removed when the whole retry is done. So a reading
 * can continue after any key, in any process.
 */
export class FailedItemsSource implements Source {
  readonly name: string;
  readonly #options: FailedItemsOptions;

  constructor(options: FailedItemsOptions) {
    this.#options = options;
    this.name = options.source.name;
  }

  async plan({ shardCount }: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    const ranges: RetryRange[] = [];
    try {
      for await (const range of this.#ranges()) ranges.push(range);
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed) return err(thrown.error);
      throw thrown;
    }
    const [first] = ranges;
    if (first === undefined) return err({ kind: "SourceInvalid", reason: "no item of the run failed" });
    const stride = Math.ceil(ranges.length / shardCount);
    const starts = ranges
      .filter((_, index) => index % stride === 0)
      .map(({ start }) => start)
      .filter((start, index, all) => index === 0 || compareBytes(all[index - 1]!, start) < 0);
    const end = ranges.map((range) => range.end).reduce(laterEnd);
    return ok(starts.map((start, index) => unwrap(rangeShard({ start, end: starts[index + 1] ?? end }))));
  }

  async *read({ range, after, signal }: ReadRequest): AsyncGenerator<ItemBatch> {
    for await (const { start, end } of this.#ranges()) {
      if (range.end.length > 0 && compareBytes(start, range.end) >= 0) return;
      if (endsBy(end, range.start) || (after !== undefined && endsBy(end, after))) continue;
      // A split may cut through the range of a folder that could not be read.
      const from = later(start, range.start);
      const to = earlierEnd(end, range.end);
      const isInside = after !== undefined && compareBytes(after, from) >= 0;
      yield* this.#options.source.read({
        range: { start: from, end: to },
        after: isInside ? after : undefined,
        signal,
      });
    }
  }

  /** Counts the failures that are items. How much is in a folder that could not be read is not known. */
  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    const spans: WorkSpan[] = [];
    let from: Uint8Array | undefined;
    let items = 0;
    const close = (end: Uint8Array): void => {
      if (from !== undefined && compareBytes(from, end) < 0) spans.push({ start: from, end, items });
      [from, items] = [undefined, 0];
    };
    let last: RetryRange | undefined;
    for await (const range of this.#ranges()) {
      signal.throwIfAborted();
      // Nothing that failed is between two failures.
      if (range.isFolder || items >= ITEMS_PER_SPAN) close(range.start);
      if (!range.isFolder) {
        from ??= last?.isFolder === true ? last.end : range.start;
        items++;
      }
      last = range;
    }
    if (last !== undefined && !last.isFolder) close(last.end);
    yield { spans, isExact: true };
  }

  describeKey(key: Uint8Array): string {
    return this.#options.source.describeKey?.(key) ?? Buffer.from(key).toString("hex");
  }

  /** Where the failed items are, in key order, and each once. */
  async *#ranges(): AsyncGenerator<RetryRange> {
    for await (const range of rangesLeft({ ...this.#options, sourceName: this.name })) {
      if (!range.ok)
        throw new SourceReadFailed({ kind: "SourceUnreadable", reason: "the list of failures cannot be read" });
      yield range.value;
    }
  }
}

/** The items of a job's source that failed in a run. */
export function failedItemsSource<I extends Item>(options: FailedItemsOptions): Source<I> {
  return new FailedItemsSource(options) as unknown as Source<I>;
}
