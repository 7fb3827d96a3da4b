import { prefixSuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { WorkEstimate, WorkSpan } from "@gossip/worker";

const VERSION = 1;
/** Enough for a display. With bounds of this size, the document has less than 16 KiB. */
const MAX_SPANS = 50;
const MAX_BOUND_SIZE = 48;

interface EstimateDocument {
  readonly version: typeof VERSION;
  readonly isExact: boolean;
  /** Start, end and items of each span. Keys in base64url. */
  readonly spans: readonly (readonly [start: string, end: string, items: number])[];
}

/** An estimate as a JSON document: neighbors are joined, and keys are cut, which moves few items to the next span. */
export function encodeEstimate({ spans, isExact = false }: WorkEstimate): Uint8Array {
  const text = (key: Uint8Array): string => Buffer.from(key).toString("base64url");
  const few = joinNeighbors(spans).map(({ start, end, items }) => [text(start), text(end), items] as const);
  const document: EstimateDocument = { version: VERSION, isExact, spans: few };
  return new TextEncoder().encode(JSON.stringify(document));
}

/** Returns `undefined` for a document of another version, or one that is damaged. */
export function decodeEstimate(value: Uint8Array): WorkEstimate | undefined {
  try {
    const document = JSON.parse(new TextDecoder().decode(value)) as EstimateDocument;
    if (document.version !== VERSION) return undefined;
    const spans = document.spans.map(([start, end, items]) => ({ start: bytesOf(start), end: bytesOf(end), items }));
    return spans.every(isUsable) && isAscending(spans) ? { spans, isExact: document.isExact } : undefined;
  } catch {
    return undefined;
  }
}

/** Join spans that touch until there are few, and cut their keys. Spans that would then be empty are joined too. */
function joinNeighbors(spans: readonly WorkSpan[]): WorkSpan[] {
  const total = spans.reduce((sum, { items }) => sum + items, 0);
  const joined: WorkSpan[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    const touches = last !== undefined && last.end.length > 0 && compareBytes(last.end, span.start) === 0;
    const isSmall = touches && last.items + span.items <= (2 * total) / MAX_SPANS;
    const isCut = touches && compareBytes(cut(span.start), cut(last.start)) <= 0;
    if (last !== undefined && (isSmall || isCut))
      joined[joined.length - 1] = { start: last.start, end: span.end, items: last.items + span.items };
    else joined.push(span);
  }
  return joined
    .map(({ start, end, items }, index) => {
      // If the end of the last span were cut, the last shard would not be covered.
      const isLast = index === joined.length - 1;
      return { start: cut(start), end: isLast ? roundedUp(end) : cut(end), items };
    })
    .filter(({ start, end }) => end.length === 0 || compareBytes(start, end) < 0)
    .slice(0, 2 * MAX_SPANS);
}

function cut(key: Uint8Array): Uint8Array {
  return key.subarray(0, MAX_BOUND_SIZE);
}

/** The least short key that is not below `key`. Empty, which means no bound, if there is none. */
function roundedUp(key: Uint8Array): Uint8Array {
  return key.length <= MAX_BOUND_SIZE ? key : (prefixSuccessor(cut(key)) ?? new Uint8Array(0));
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64url"));
}

function isUsable({ start, end, items }: WorkSpan): boolean {
  return Number.isFinite(items) && items >= 0 && (end.length === 0 || compareBytes(start, end) < 0);
}

function isAscending(spans: readonly WorkSpan[]): boolean {
  return spans.every((span, index) => {
    const next = spans[index + 1];
    return next === undefined || (span.end.length > 0 && compareBytes(span.end, next.start) <= 0);
  });
}
