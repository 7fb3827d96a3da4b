// A proxy that shows a server below a path of its own, as a company's portal does.
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface PathPrefix {
  /** The address that stands for the root of the server. Ends with a slash. */
  readonly url: string;
  /** The addresses outside of the prefix that were asked for. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

/** Serve the server at `port` of this machine below `prefix`, such as `/ops/`. */
export async function servePathPrefix(port: number, prefix: string): Promise<PathPrefix> {
  const strays: string[] = [];
  const server: Server = createServer((asked, answer) => {
    const { url = "", method, headers } = asked;
    if (!url.startsWith(prefix)) {
      strays.push(url);
      answer.writeHead(404).end();
      return;
    }
    const path = `/${url.slice(prefix.length)}`;
    const forwarded = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      answer.flushHeaders();
      response.pipe(answer);
    });
    forwarded.on("error", () => answer.destroy());
    answer.on("close", () => forwarded.destroy());
    asked.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}${prefix}`,
    strays,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
