import type { IncomingMessage, ServerResponse } from "node:http";
import { respondText } from "../http/respond.ts";

/** A file of the page, as it is sent. */
export interface ServedFile {
  readonly body: Uint8Array;
  readonly gzip: Uint8Array;
  readonly contentType: string;
  /** Changes with the content. */
  readonly hash: string;
}

/** The files of the page by path, such as `index.html`. */
export type ServedFiles = ReadonlyMap<string, ServedFile>;

/** Nothing but our own files, and no script in the page itself. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

const INDEX = "index.html";

/** Send a file below `/console/`. Returns `false` if the path is not there. */
export function serveConsoleFile(request: IncomingMessage, response: ServerResponse, files: ServedFiles): boolean {
  const [path = ""] = (request.url ?? "").split("?");
  // Relative paths in the page need the slash, also behind a prefix: so the target is relative too.
  if (path === "/console") return redirect(response, "console/");
  if (path === "/" && files.has(INDEX)) return redirect(response, "console/");
  if (!path.startsWith("/console/")) return false;
  if (request.method !== "GET" && request.method !== "HEAD") {
    respondText(response, 405, "only GET\n");
    return true;
  }
  const name = path.slice("/console/".length);
  const file = files.get(name === "" ? INDEX : name);
  if (file === undefined) {
    respondText(response, 404, "there is no such file\n");
    return true;
  }
  send(request, response, file);
  return true;
}

function redirect(response: ServerResponse, location: string): boolean {
  response.writeHead(302, { location, "cache-control": "no-store" });
  response.end();
  return true;
}

function send({ headers, method }: IncomingMessage, response: ServerResponse, file: ServedFile): void {
  const etag = `"${file.hash}"`;
  const isZipped = /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""));
  const body = isZipped ? file.gzip : file.body;
  const common = { ...HEADERS, etag, "cache-control": "no-cache", vary: "accept-encoding" };
  if (headers["if-none-match"] === etag) {
    response.writeHead(304, common);
    response.end();
    return;
  }
  response.writeHead(200, {
    ...common,
    "content-type": file.contentType,
    "content-length": body.length,
    ...(isZipped ? { "content-encoding": "gzip" } : {}),
  });
  response.end(method === "HEAD" ? undefined : body);
}
