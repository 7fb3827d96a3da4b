import { Agent, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";

/** What a node shows to other nodes, and whom it trusts. The same files as for its clients. */
export interface PeerTls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  readonly ca?: string | Buffer | undefined;
}

export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** How long the other node may be silent. */
  readonly timeoutMs: number;
}

export interface PeerReply {
  readonly status: number;
  readonly body: Buffer;
}

/** The largest reply that a node reads from another. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Connections to the other nodes of a cluster. They use TLS exactly if this node does. */
export class PeerLinks {
  #agent: Agent;
  readonly #send: typeof httpRequest;

  constructor(tls?: PeerTls) {
    this.#agent = makeAgent(tls);
    this.#send = tls === undefined ? httpRequest : httpsRequest;
  }

  /** Use other certificates from now on. Requests in progress finish with the old ones. */
  reload(tls: PeerTls): void {
    const old = this.#agent;
    this.#agent = makeAgent(tls);
    // Connections of the old agent are closed as they become free.
    old.maxFreeSockets = 0;
    for (const free of Object.values(old.freeSockets)) for (const socket of free ?? []) socket.destroy();
  }

  /** Send a request to a node at `host:port`. `undefined` if there is no answer: it may have been executed. */
  send(address: string, { method, path, headers = {}, body, timeoutMs }: PeerRequest): Promise<PeerReply | undefined> {
    const at = address.lastIndexOf(":");
    const options = {
      agent: this.#agent,
      host: address.slice(0, at).replace(/^\[(.*)\]$/, "$1"),
      port: Number(address.slice(at + 1)),
      method,
      path,
      timeout: timeoutMs,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
    };
    return new Promise((resolve) => {
      const sent = this.#send(options, (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on("data", (part: Buffer) => {
          size += part.length;
          parts.push(part);
          if (size > MAX_REPLY_BYTES) response.destroy();
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) }));
        response.on("error", () => resolve(undefined));
        response.on("close", () => resolve(undefined));
      });
      sent.on("error", () => resolve(undefined));
      sent.on("timeout", () => sent.destroy());
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function makeAgent(tls: PeerTls | undefined): Agent {
  const settings = { keepAlive: true, noDelay: true, maxSockets: 64 };
  return tls === undefined ? new Agent(settings) : new TlsAgent({ ...settings, ...withoutMissing(tls) });
}

function withoutMissing({ cert, key, ca }: PeerTls): PeerTls {
  return ca === undefined ? { cert, key } : { cert, key, ca };
}
