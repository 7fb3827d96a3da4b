import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { S3Error } from "./s3-error.ts";

/** One connection per range that is listed at the same time, and some for reading objects. */
const MAX_SOCKETS = 64;
const TIMEOUT_MS = 30_000;
const MAX_ERROR_BODY = 64 * 1024;

/** Sends requests over connections that it keeps. */
export class Connections {
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  readonly #https = new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  /** The response of a successful request, with its body unread. Throws `S3Error`. */
  async get(
    { origin, path }: { readonly origin: URL; readonly path: string },
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    signal.throwIfAborted();
    const isSecure = origin.protocol === "https:";
    const send = isSecure ? httpsRequest : httpRequest;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // The path is passed as text: a URL object would resolve the dots in keys such as `a/../b`.
      const request = send(
        {
          agent: isSecure ? this.#https : this.#http,
          hostname: origin.hostname.replaceAll(/^\[|\]$/g, ""),
          port: origin.port,
          path,
          headers,
          signal,
          timeout: TIMEOUT_MS,
        },
        resolve,
      );
      request.once("timeout", () => request.destroy(new S3Error("ETIMEDOUT")));
      request.once("error", (thrown) => reject(errorFrom(thrown, signal)));
      request.end();
    });
    const status = response.statusCode!;
    if (status >= 200 && status < 300) return response;
    const text = await readText(response, signal, MAX_ERROR_BODY).catch(() => "");
    const region = response.headers["x-amz-bucket-region"] ?? /<Region>([\w-]+)<\/Region>/.exec(text)?.[1];
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `Http${status}`;
    throw new S3Error(code, { status, region: typeof region === "string" ? region : undefined });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** The whole body as text. Throws `S3Error` if it breaks off or is longer than `limit`. */
export async function readText(response: IncomingMessage, signal: AbortSignal, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new S3Error("ResponseTooLarge");
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw errorFrom(thrown, signal);
  }
  if (!response.complete) throw new S3Error("IncompleteResponse");
  return Buffer.concat(chunks).toString("utf8");
}

/** What a connection threw, as an `S3Error`; an abort stays what it is. */
function errorFrom(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (thrown instanceof S3Error) return thrown;
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  return new S3Error(code === "ERR_STREAM_PREMATURE_CLOSE" ? "IncompleteResponse" : (code ?? "Unknown"), {
    cause: thrown,
  });
}
