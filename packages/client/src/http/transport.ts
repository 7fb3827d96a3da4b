import { assert, Redacted } from "@gossip/stdx";
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";

export interface TransportOptions {
  /** The server, as `http://host:port` or `https://host:port`. */
  readonly url: string;
  /** A bearer token. */
  readonly token?: string | undefined;
  /** Certificates as PEM text: the authority that signed the server's, and this client's own. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly maxSockets: number;
}

/** A response, read to its end and parsed. */
export interface Reply {
  readonly status: number;
  readonly json: unknown;
}

/** The codes of Node for a certificate that it does not accept. */
const DISTRUST = /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|ERR_TLS_CERT_)/;

/** The request may or may not have been executed: there is no answer. */
export class LostReply extends Error {
  override readonly name = "LostReply";
  readonly code: string | undefined;
  /** Whether the server's certificate was not accepted. Trying again is of no use until a certificate changes. */
  readonly isUntrusted: boolean;

  constructor(cause: unknown) {
    super("the server did not answer", { cause });
    const { code } = (cause ?? {}) as { readonly code?: unknown };
    this.code = typeof code === "string" ? code : undefined;
    this.isUntrusted = this.code !== undefined && DISTRUST.test(this.code);
  }
}

export interface SendOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** How long the server may be silent. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to one server over connections that it keeps. */
export class Transport {
  readonly #base: URL;
  readonly #host: string;
  readonly #port: number;
  readonly #basePath: string;
  readonly #agent: Agent;
  readonly #token: Redacted<string> | undefined;
  readonly #send: typeof httpRequest;

  constructor({ url, token, tls = {}, maxSockets }: TransportOptions) {
    this.#base = new URL(url);
    const { protocol } = this.#base;
    assert(protocol === "http:" || protocol === "https:", "the service's address must begin with http:// or https://");
    const isTls = protocol === "https:";
    this.#host = this.#base.hostname.replace(/^\[(.*)\]$/, "$1");
    this.#port = this.#base.port === "" ? (isTls ? 443 : 80) : Number(this.#base.port);
    this.#basePath = this.#base.pathname.replace(/\/$/, "");
    const settings = { keepAlive: true, maxSockets, noDelay: true };
    this.#agent = isTls ? new TlsAgent({ ...settings, ...tls }) : new Agent(settings);
    this.#send = isTls ? httpsRequest : httpRequest;
    this.#token = token === undefined ? undefined : new Redacted(token);
  }

  /** The server's address, without credentials. */
  get origin(): string {
    return this.#base.origin;
  }

  /** Send a request and wait for the whole response. Rejects with `LostReply` if there is none. */
  async send(options: SendOptions): Promise<Reply> {
    const response = await this.open(options);
    const text = await readText(response);
    try {
      return { status: response.statusCode ?? 0, json: JSON.parse(text) as unknown };
    } catch (cause) {
      // A proxy in between answers in HTML: the request may not have reached the server.
      throw new LostReply(cause);
    }
  }

  /** Send a request and return the response once its headers are there. */
  open({ method, path, body, timeoutMs, headers = {} }: SendOptions): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options: RequestOptions = {
      agent: this.#agent,
      host: this.#host,
      port: this.#port,
      method,
      path: `${this.#basePath}${path}`,
      timeout: timeoutMs,
      headers: {
        ...headers,
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${Redacted.reveal(this.#token)}` }),
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      },
    };
    return new Promise((resolve, reject) => {
      const sent = this.#send(options, resolve);
      sent.on("error", (cause) => reject(new LostReply(cause)));
      sent.on("timeout", () => sent.destroy(new Error("the server was silent for too long")));
      // A text, not its bytes: Node then sends it together with the headers.
      sent.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function readText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    response.on("end", () => {
      if (response.complete)
        resolve(parts.length === 1 ? parts[0]!.toString("utf8") : Buffer.concat(parts).toString("utf8"));
      else reject(new LostReply(undefined));
    });
    response.on("error", (cause) => reject(new LostReply(cause)));
    response.on("close", () => {
      // Making an error takes longer than everything else here.
      if (!response.readableEnded) reject(new LostReply(undefined));
    });
  });
}
