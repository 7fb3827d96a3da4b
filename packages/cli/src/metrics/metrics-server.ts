import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { err, ok, type Result } from "@gossip/stdx";
import type { CliError } from "../output/cli-error.ts";
import type { MetricsAddress } from "./metrics-address.ts";

/** What the server reports. */
export interface MetricsSource {
  text(): string;
  /** Why the process cannot work at the moment. */
  readonly notReady: string | undefined;
}

export interface MetricsServer {
  /** With the port that was chosen. */
  readonly url: string;
  close(): Promise<void>;
}

/** The type of the exposition format, version 0.0.4. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";
/** A request has no body and few headers. */
const REQUEST_TIMEOUT_MS = 5000;

/** Serve `/metrics`, `/healthz` and `/readyz`. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  source: () => MetricsSource | undefined,
): Promise<Result<MetricsServer, CliError>> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => respond(request, response, source()),
  );
  try {
    await listen(server, { host, port });
  } catch (thrown) {
    const { code = "for an unknown reason" } = thrown as NodeJS.ErrnoException;
    return err({
      kind: "BadCommandLine",
      message: `--metrics cannot listen on ${host}:${port} (${code}): choose another address.`,
    });
  }
  const { port: chosen } = server.address() as AddressInfo;
  // The process ends when its work does.
  server.unref();
  return ok({
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function listen(server: Server, address: MetricsAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function respond(request: IncomingMessage, response: ServerResponse, source: MetricsSource | undefined): void {
  const send = (status: number, text: string, type = TEXT_TYPE): void => {
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) });
    response.end(request.method === "HEAD" ? undefined : text);
  };
  if (request.method !== "GET" && request.method !== "HEAD") return send(405, "only GET and HEAD are supported\n");
  const [path] = (request.url ?? "/").split("?");
  if (path === "/healthz") return send(200, "ok\n");
  if (path === "/metrics") return send(200, source?.text() ?? "", METRICS_TYPE);
  if (path !== "/readyz") return send(404, "there are /metrics, /healthz and /readyz\n");
  const notReady = source === undefined ? "the run has not been opened yet" : source.notReady;
  return send(notReady === undefined ? 200 : 503, `${notReady ?? "ready"}\n`);
}
