import type { RangeInput } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import type { WorkSpan } from "@gossip/worker";
import { keyPosition } from "@gossip/insight";

/** What a source's estimate says about a range. */
export interface Expectation {
  /** Items expected in the parts of the range that the estimate covers. */
  readonly items: number;
  /** The parts that it does not cover, in key order. */
  readonly gaps: readonly RangeInput[];
}

/** What the spans say about the keys from `start` up to but not including `end`. An empty end is no bound. */
export function expectItems(spans: readonly WorkSpan[], { start, end }: RangeInput): Expectation {
  const gaps: RangeInput[] = [];
  let [items, from] = [0, start];
  for (let index = firstEndingAbove(spans, start); index < spans.length; index++) {
    const span = spans[index]!;
    if (!isBelow(span.start, end)) break;
    if (compareBytes(from, span.start) < 0) gaps.push({ start: from, end: span.start });
    const [low, high] = [keyPosition(span, from), end.length === 0 ? 1 : keyPosition(span, end)];
    items += span.items * Math.max(0, high - low);
    if (span.end.length === 0) return { items, gaps };
    from = span.end;
  }
  if (isBelow(from, end)) gaps.push({ start: from, end });
  return { items, gaps };
}

/** The index of the first span that ends above `key`. */
function firstEndingAbove(spans: readonly WorkSpan[], key: Uint8Array): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { end } = spans[middle]!;
    if (end.length > 0 && compareBytes(end, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBelow(key: Uint8Array, end: Uint8Array): boolean {
  return end.length === 0 || compareBytes(key, end) < 0;
}
