// A site to crawl, on this machine, with the moods of a real one.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/** How often a busy page sends you away before it has time. */
const BUSY_TIMES = 2;

/** `/page/N` is there, `/gone/N` is not, `/busy/N` wants to be asked again (the first time it says when), and `/broken/N` fails until it is mended. */
export async function startSite({ isMended }: { readonly isMended: boolean }): Promise<Site> {
  const visits = new Map<string, number>();
  const server = createServer(({ url = "/" }, response) => {
    const visit = (visits.get(url) ?? 0) + 1;
    visits.set(url, visit);
    const [, kind, number] = url.split("/");
    if (kind === "gone") return void response.writeHead(404).end();
    if (kind === "busy" && visit <= BUSY_TIMES)
      return void response.writeHead(503, visit === 1 ? { "retry-after": "1" } : {}).end();
    if (kind === "broken" && !isMended) return void response.writeHead(500).end();
    response.end(`<!doctype html><title>Page ${number}</title><p>This is page ${number}.`);
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
}
