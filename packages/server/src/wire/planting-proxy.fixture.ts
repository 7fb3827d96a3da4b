import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface PassingRequest {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
  readonly lastEventId?: string | undefined;
}

export interface PassingResponse {
  readonly path: string;
  readonly authorization: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a proxy changes about what passes. */
export interface Plant {
  readonly request?: (request: PassingRequest) => Partial<PassingRequest>;
  readonly response?: (response: PassingResponse) => Partial<PassingResponse>;
}

/** Stands between a client and a server, and makes the server look as if it had a defect. */
export class PlantingProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #plant: Plant;

  static async start(target: string, plant: Plant): Promise<PlantingProxy> {
    const proxy = new PlantingProxy(target, plant);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: string, plant: Plant) {
    this.#target = new URL(target);
    this.#plant = plant;
    this.#server = createServer((request, response) => {
      // A client that stops waiting closes its connection, in the middle of its request, too.
      this.#pass(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { headers, method } = request;
    const original: PassingRequest = {
      path: request.url ?? "/",
      authorization: headers.authorization ?? "",
      body: Buffer.concat(parts).toString(),
      lastEventId: headers["last-event-id"] as string | undefined,
    };
    const { path, authorization, body, lastEventId } = { ...original, ...this.#plant.request?.(original) };
    const { "last-event-id": _id, "content-length": _length, authorization: _token, ...kept } = headers;
    const options = {
      host: this.#target.hostname,
      port: this.#target.port,
      method,
      path,
      headers: {
        ...kept,
        ...(authorization === "" ? {} : { authorization }),
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        ...(body === "" ? {} : { "content-length": Buffer.byteLength(body) }),
      },
    };
    const sent = send(options, (reply) => void this.#answer(original, reply, response));
    sent.on("error", () => response.destroy());
    response.on("close", () => sent.destroy());
    sent.end(body);
  }

  async #answer(
    { path, authorization }: PassingRequest,
    reply: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const status = reply.statusCode ?? 0;
    const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]));
    // Streams pass as they are.
    if (headers["content-type"] !== "application/json") {
      response.writeHead(status, headers);
      response.flushHeaders();
      reply.on("error", () => response.destroy());
      reply.pipe(response);
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of reply) parts.push(part as Buffer);
    const original = { path, authorization, status, headers, body: Buffer.concat(parts).toString() };
    const changed = { ...original, ...this.#plant.response?.(original) };
    const {
      "content-length": _length,
      "transfer-encoding": _encoding,
      ...kept
    } = changed.headers as Record<string, string>;
    response.writeHead(changed.status, { ...kept, "content-length": Buffer.byteLength(changed.body) });
    response.end(changed.body);
  }
}
