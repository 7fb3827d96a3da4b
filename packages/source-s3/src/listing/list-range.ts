import { compareBytes } from "@gossip/stdx";
import type { ReadBounds } from "@gossip/worker";
import type { ListedObject, ListingPage } from "../client/parse-listing.ts";
import type { ListRequest, S3Client } from "../client/s3-client.ts";
import { keyBytes, leastTextFrom, textBelow } from "./key-text.ts";

export interface RangeListing {
  readonly prefix: string;
  readonly bounds: ReadBounds;
  /** Most keys of a page. Such a listing is a sample: its next page is not fetched in advance. */
  readonly maxKeys?: number | undefined;
}

/** Objects of a range, page by page. The next page is fetched while the caller works on one. */
export async function* listRange(
  client: S3Client,
  { prefix, bounds, maxKeys }: RangeListing,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  const start = listingStart(prefix, bounds.from);
  if (start === undefined) return;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const fetchPage = (request: Partial<ListRequest>): Promise<ListingPage> => {
    const page = client.list({ prefix, maxKeys, ...request }, either);
    // Awaited when its turn comes; until then, or if it is never needed, a failure must not be an unhandled rejection.
    page.catch(() => {});
    return page;
  };
  try {
    let next: Promise<ListingPage> | undefined = fetchPage(start);
    while (next !== undefined) {
      const { objects, token }: ListingPage = await next;
      const inside = below(objects, bounds.end);
      const hasMore: boolean = token !== undefined && inside.length === objects.length;
      next = hasMore && maxKeys === undefined ? fetchPage({ token }) : undefined;
      yield notBelow(inside, bounds.from);
      if (hasMore) next ??= fetchPage({ token });
    }
  } finally {
    stop.abort();
  }
}

/** Where to begin to list the keys from `from` on; `undefined` if no key can be there. */
function listingStart(prefix: string, from: Uint8Array): Pick<ListRequest, "startAfter"> | undefined {
  const text = leastTextFrom(from);
  if (text === undefined) return undefined;
  // The server begins at the prefix by itself, with the object of that name.
  return prefix.startsWith(text) ? {} : { startAfter: textBelow(text) };
}

/** A listing may begin a little too early: see `textBelow`. */
function notBelow(objects: readonly ListedObject[], from: Uint8Array): readonly ListedObject[] {
  const [first] = objects;
  if (first === undefined || compareBytes(keyBytes(first.key), from) >= 0) return objects;
  return objects.filter(({ key }) => compareBytes(keyBytes(key), from) >= 0);
}

function below(objects: readonly ListedObject[], end: Uint8Array): readonly ListedObject[] {
  const last = objects.at(-1);
  if (last === undefined || isBelowEnd(keyBytes(last.key), end)) return objects;
  return objects.filter(({ key }) => isBelowEnd(keyBytes(key), end));
}

/** Whether a key lies below the end of a range. An empty end is no bound. */
function isBelowEnd(key: Uint8Array, end: Uint8Array): boolean {
  return end.length === 0 || compareBytes(key, end) < 0;
}
