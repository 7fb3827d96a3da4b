import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the proxy does to a request. */
const FAULTS = ["dropRequest", "dropResponse", "duplicate", "delay", "cut"] as const;
type Fault = (typeof FAULTS)[number];

/** How many requests in a hundred go wrong. */
const FAULT_PERCENT = 25;

/**
 * Stands between a client and a server and spoils some of what passes, by a seed: requests and responses vanish,
 * requests arrive twice or late and so out of order, connections are cut in the middle of a response.
 */
export class FaultyProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #onFault: () => void;
  #state: number;
  #faults = 0;

  /** `onFault` is called when something goes wrong, and again when a late copy of a request has been executed. */
  static async start(target: string, seed: number, onFault: () => void = () => {}): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, seed, onFault);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: string, seed: number, onFault: () => void) {
    this.#onFault = onFault;
    this.#target = new URL(target);
    this.#state = seed >>> 0;
    this.#server = createServer((request, response) => {
      // A client that stops waiting closes its connection, in the middle of its request, too.
      this.#pass(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many requests were spoiled. */
  get faults(): number {
    return this.#faults;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const fault = this.#nextFault();
    if (fault === "dropRequest") return void response.destroy();
    if (fault === "delay") await new Promise((resolve) => setTimeout(resolve, this.#next() % 40));
    if (fault === "duplicate") this.#sendLate(request, body);
    const reply = await this.#forward(request, body);
    if (fault === "dropResponse") return void response.destroy();
    response.writeHead(reply.status, { "content-type": "application/json", "content-length": reply.body.length });
    if (fault !== "cut") return void response.end(reply.body);
    response.write(reply.body.subarray(0, reply.body.length >> 1), () => response.destroy());
  }

  /** Send a copy that is executed before or after the request itself, or after later ones. */
  #sendLate(request: IncomingMessage, body: Buffer): void {
    const pauseMs = this.#next() % 40;
    void new Promise((resolve) => setTimeout(resolve, pauseMs))
      .then(() => this.#forward(request, body))
      .then(this.#onFault, this.#onFault);
  }

  #forward(request: IncomingMessage, body: Buffer): Promise<{ readonly status: number; readonly body: Buffer }> {
    const { method, url: path, headers } = request;
    const { hostname: host, port } = this.#target;
    return new Promise((resolve, reject) => {
      const sent = send({ host, port, method, path, headers: { ...headers, host: `${host}:${port}` } }, (reply) => {
        const parts: Buffer[] = [];
        reply.on("data", (part: Buffer) => parts.push(part));
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(parts) }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  #nextFault(): Fault | undefined {
    if (this.#next() % 100 >= FAULT_PERCENT) return undefined;
    this.#faults++;
    this.#onFault();
    return FAULTS[this.#next() % FAULTS.length];
  }

  /** A linear congruential generator: the upper bits are random enough to choose faults. */
  #next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state >>> 8;
  }
}
