import type { ShardSpec } from "@gossip/contracts";
import { evenSplitPoints } from "@gossip/frontier";
import { ok, type Result } from "@gossip/stdx";
import { readBounds, RetryAfter, shardsBetween } from "@gossip/worker";
import type { Item, ItemBatch, PlanRequest, ReadRequest, Source } from "@gossip/worker";

/** A document as the service lists it. Its key is its id. */
export interface DocumentItem extends Item {
  readonly id: string;
  readonly size: number;
}

interface Page {
  readonly documents: readonly { readonly id: string; readonly size: number }[];
  /** The id that the next page begins with; `null` after the last page. */
  readonly next: string | null;
}

// Ids are hexadecimal, so all of them lie in this range, also those of documents that do not exist yet.
const EVERY_ID = { start: bytesOf("0"), end: bytesOf("g") };

/** The documents of a service that lists them by id: `GET {url}?from=ID&limit=1000`. */
export function httpSource(url: string): Source<DocumentItem> {
  return { name: "http", plan, read: (request) => read(url, request), describeKey: textOf };
}

async function plan({ shardCount }: PlanRequest): Promise<Result<readonly ShardSpec[], never>> {
  return ok(shardsBetween(EVERY_ID, evenSplitPoints(EVERY_ID, shardCount)));
}

async function* read(url: string, { range, after, signal }: ReadRequest): AsyncGenerator<ItemBatch<DocumentItem>> {
  const bounds = readBounds({ range, after });
  if (bounds === undefined) return;
  const end = textOf(bounds.end);
  let from: string | null = textOf(bounds.from);
  while (from !== null) {
    const { documents, next }: Page = await fetchPage(url, from, signal);
    const inside = documents.filter(({ id }) => end === "" || id < end);
    yield { items: inside.map(({ id, size }) => ({ key: bytesOf(id), id, size })) };
    from = inside.length < documents.length ? null : next;
  }
}

async function fetchPage(url: string, from: string, signal: AbortSignal): Promise<Page> {
  const response = await fetch(`${url}?from=${encodeURIComponent(from)}&limit=1000`, { signal });
  if (response.ok) return (await response.json()) as Page;
  const seconds = Number(response.headers.get("retry-after") ?? 1);
  throw new RetryAfter(1000 * seconds, `the listing answered ${response.status}`);
}

function bytesOf(id: string): Uint8Array {
  return Buffer.from(id, "latin1");
}

/** A bound may have any bytes. As Latin-1, text sorts as its bytes do. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}
