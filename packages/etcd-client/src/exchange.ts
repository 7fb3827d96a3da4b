import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { CheckedOptions } from "./etcd-options.ts";
import type { Overdue } from "./overdue.ts";

/**
 * The outcome of a request to one member.
 *
 * - `Answered` — a complete response, success or failure.
 * - `NotSent`  — no connection was established, so the member cannot have done anything.
 * - `Broken`   — the request was sent, at least in part, and no complete response came.
 */
export type Exchanged = Answered | { readonly kind: "NotSent" | "Broken"; readonly reason: string };

export interface Answered {
  readonly kind: "Answered";
  readonly status: number;
  readonly text: string;
  /** The `Date` header. */
  readonly date: string | undefined;
}

export interface ExchangeRequest {
  readonly url: URL;
  readonly path: string;
  readonly body: string;
  readonly token: string | undefined;
}

/** Posts JSON to members, on connections that are kept. */
export class Exchange {
  readonly #options: CheckedOptions;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(options: CheckedOptions) {
    const { maxConnections, tls } = options;
    this.#options = options;
    const pool = { keepAlive: true, noDelay: true, maxSockets: maxConnections, scheduling: "lifo" } as const;
    this.#http = new HttpAgent(pool);
    const { ca, cert, key, serverName } = tls;
    const secrets = { ...(ca && { ca: pem(ca) }), ...(cert && { cert: pem(cert) }), ...(key && { key: pem(key) }) };
    this.#https = new HttpsAgent({ ...pool, ...secrets, ...(serverName && { servername: serverName }) });
  }

  /** Sends one request and returns one response. Never rejects. */
  send(asked: ExchangeRequest, overdue: Overdue): Promise<Exchanged> {
    return new Promise((resolve) => {
      const request = this.open(asked);
      const connection = watchConnection(request, this.#options);
      const finish = (exchanged: Exchanged): void => {
        leave();
        connection.settle();
        resolve(exchanged);
      };
      const abort = (): void => void request.destroy(new Error("no answer came in time"));
      const leave = overdue.whenUp(abort);
      if (overdue.isUp) abort();
      request.on("error", (error) =>
        finish({ kind: connection.isMade() ? "Broken" : "NotSent", reason: reasonOf(error) }),
      );
      request.once("response", (response) => readText(response, this.#options.maxMessageSize, finish));
    });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** A request that is on its way. The caller reads the answer. */
  open({ url, path, body, token }: ExchangeRequest): ClientRequest {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(token === undefined ? {} : { authorization: token }),
    };
    // Spelled out: taking a URL apart for every request takes as long as putting its headers together.
    const { hostname, port } = url;
    const options = { method: "POST", hostname: hostname.replace(/^\[|\]$/gu, ""), port, path, headers };
    return url.protocol === "https:"
      ? httpsRequest({ ...options, agent: this.#https }).end(body)
      : httpRequest({ ...options, agent: this.#http }).end(body);
  }
}

/** Our words, or the system's name for what went wrong: a message of the system can hold an address, and nothing more. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}

/** Knows whether a request had a connection, and gives up on one that takes too long to come about. */
function watchConnection(
  request: ClientRequest,
  { timers, connectTimeoutMs }: CheckedOptions,
): { isMade: () => boolean; settle: () => void } {
  let isMade = false;
  let cancelTimer = (): void => {};
  request.once("socket", (socket) => {
    const made = (): void => {
      isMade = true;
      cancelTimer();
    };
    if (!socket.connecting) return made();
    cancelTimer = timers.after(
      connectTimeoutMs,
      () => void request.destroy(new Error("no connection came about in time")),
    );
    // Of a secure one nothing is sent before both have shown who they are.
    socket.once("encrypted" in socket ? "secureConnect" : "connect", made);
    return undefined;
  });
  return { isMade: () => isMade, settle: () => cancelTimer() };
}

/** Read an answer to its end. By its events: a loop over its pieces would be shorter, and every caller would wait for some more turns. */
function readText(response: IncomingMessage, maxSize: number, finish: (exchanged: Exchanged) => void): void {
  const pieces: Buffer[] = [];
  let size = 0;
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size <= maxSize) return;
    finish({ kind: "Broken", reason: "an answer is too large" });
    response.destroy();
  });
  response.once("end", () => {
    const { statusCode: status = 0, headers } = response;
    finish({ kind: "Answered", status, text: Buffer.concat(pieces).toString("utf8"), date: headers.date });
  });
  const breakOff = (): void => finish({ kind: "Broken", reason: "the answer broke off" });
  response.on("error", breakOff);
  // Where it has ended, that has been told.
  response.once("close", breakOff);
}
