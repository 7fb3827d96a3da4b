import { RetryAfter } from "@gossip/worker";

/** What is kept of a page. */
export type Page = { readonly status: number; readonly title: string | undefined } | { readonly error: string };

/** A server that says nothing for so long is not coming back to us. */
const PATIENCE_MS = 30_000;

/**
 * Fetch a page.
 *
 * A page that is gone, or that never was an address, is a result. For what is thrown, the runtime waits, twice as long
 * each time, and tries again. `RetryAfter` stands for a busy server: the runtime waits at least as long as the server
 * asks for, and does not give up on the page. Any other error counts against the page, which is given up after a few.
 */
export async function fetchPage(address: string, site: string, signal: AbortSignal): Promise<Page> {
  if (!URL.canParse(address, site)) return { error: "not an address" };
  const response = await fetch(new URL(address, site), {
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  const text = await response.text();
  if (response.status === 429 || response.status === 503)
    throw new RetryAfter(waitMs(response), `${address} answered ${response.status}`);
  if (response.status >= 500) throw new Error(`${address} answered ${response.status}`);
  return { status: response.status, title: /<title>(.*?)<\/title>/i.exec(text)?.[1] };
}

/** What the server asks for, in seconds or as a date; 0 where it does not say. */
function waitMs({ headers }: Response): number {
  const asked = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(asked) ? 1000 * Number(asked) : Date.parse(asked) - Date.now();
  return ms > 0 && ms < Infinity ? ms : 0;
}
