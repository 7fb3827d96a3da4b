import type { RangeInput } from "@gossip/contracts";
import { keySuccessor } from "@gossip/frontier";
import type { ItemBatch, ReadRequest } from "./source.ts";
import type { WorkEstimate, WorkSpan } from "./work-estimate.ts";

export interface CountRequest {
  /** Adjacent ranges in key order. They are counted in an order that spreads over all of them. */
  readonly parts: readonly RangeInput[];
  readonly read: (request: ReadRequest) => AsyncIterable<ItemBatch>;
  readonly signal: AbortSignal;
}

/** A step ends after this many items or batches, whichever comes first: a few milliseconds of work. */
const ITEMS_PER_STEP = 2048;
const BATCHES_PER_STEP = 64;
/** Narrower spans say no more about progress. Wider ones are used if there would be too many. */
const FEWEST_ITEMS_PER_SPAN = 64;
const MAX_SPANS = 2048;

/**
 * Count the items of a source by reading it, in steps.
 *
 * An estimate before the end has the spans counted so far. Because the parts are taken from all over the key space,
 * those spans are a fair sample of the rest.
 */
export async function* countAhead({ parts, read, signal }: CountRequest): AsyncGenerator<WorkEstimate> {
  const counts = parts.map(() => new SpanList());
  const estimate = (): WorkEstimate => ({ spans: counts.flatMap(({ spans }) => spans), isExact: true });
  let [items, batches, itemsPerSpan] = [0, 0, FEWEST_ITEMS_PER_SPAN];
  for (const index of spreadOrder(parts.length)) {
    const [range, count] = [parts[index]!, counts[index]!];
    let from = range.start;
    for await (const batch of read({ range, signal })) {
      const last = batch.items.at(-1);
      const end = last === undefined ? undefined : keySuccessor(last.key);
      if (end !== undefined) {
        count.add({ start: from, end, items: batch.items.length }, itemsPerSpan);
        from = end;
      }
      items += batch.items.length;
      if (++batches < BATCHES_PER_STEP && items < ITEMS_PER_STEP) continue;
      itemsPerSpan = narrowEnough(counts, itemsPerSpan);
      yield estimate();
      [items, batches] = [0, 0];
    }
    count.add({ start: from, end: range.end, items: 0 }, itemsPerSpan);
  }
  yield estimate();
}

/** Joins neighbors until there are few enough spans. Returns the least number of items of a new span. */
function narrowEnough(counts: readonly SpanList[], itemsPerSpan: number): number {
  let [least, total] = [itemsPerSpan, spanCount(counts)];
  while (total > MAX_SPANS + counts.length) {
    least *= 2;
    for (const count of counts) count.join(least);
    total = spanCount(counts);
  }
  return least;
}

function spanCount(counts: readonly SpanList[]): number {
  return counts.reduce((sum, { spans }) => sum + spans.length, 0);
}

/** Adjacent spans. */
class SpanList {
  spans: WorkSpan[] = [];

  /** Add the next span. It extends the last one unless that has `itemsPerSpan` items already. */
  add(span: WorkSpan, itemsPerSpan: number): void {
    const last = this.spans.at(-1);
    if (last === undefined || last.items + span.items > itemsPerSpan) this.spans.push(span);
    else this.spans[this.spans.length - 1] = { ...last, end: span.end, items: last.items + span.items };
  }

  join(itemsPerSpan: number): void {
    const all = this.spans;
    this.spans = [];
    for (const span of all) this.add(span, itemsPerSpan);
  }
}

/** The indexes below `count`, each as far as possible from those before: 0, 4, 2, 6, 1, 5, 3, 7. */
export function spreadOrder(count: number): readonly number[] {
  let bits = 0;
  while (1 << bits < count) bits++;
  const order: number[] = [];
  for (let rank = 0; rank < 1 << bits; rank++) {
    let index = 0;
    for (let bit = 0; bit < bits; bit++) if ((rank & (1 << bit)) !== 0) index |= 1 << (bits - 1 - bit);
    if (index < count) order.push(index);
  }
  return order;
}
