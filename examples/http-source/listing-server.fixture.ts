// The service of the example: a real HTTP server that lists documents by id, and is busy now and then.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The server returns no more documents in one page, whatever a client asks for. */
const MAX_PAGE = 40;

export interface ListingServer {
  readonly url: string;
  /** All ids, in order. */
  readonly ids: readonly string[];
  /** Pages that were served. */
  pageCount: number;
  /** So many of the next requests are answered with 503. */
  busyCount: number;
  close(): Promise<void>;
}

export async function startListingServer(documentCount: number): Promise<ListingServer> {
  const ids = Array.from({ length: documentCount }, (_, n) => createHash("sha256").update(`${n}`).digest("hex")).sort();
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost");
    if (listing.busyCount > 0) {
      listing.busyCount--;
      response.writeHead(503, { "retry-after": "0" }).end();
      return;
    }
    const from = searchParams.get("from") ?? "";
    const limit = Math.min(MAX_PAGE, Number(searchParams.get("limit") ?? MAX_PAGE));
    const first = ids.findIndex((id) => id >= from);
    const page = first < 0 ? [] : ids.slice(first, first + limit);
    const next = first < 0 ? undefined : ids[first + limit];
    listing.pageCount++;
    const documents = page.map((id) => ({ id, size: id.charCodeAt(0) }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ documents, next: next ?? null }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listing: ListingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/documents`,
    ids,
    pageCount: 0,
    busyCount: 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return listing;
}
