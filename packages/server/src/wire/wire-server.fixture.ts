import { GossipClient, type GossipClientOptions } from "@gossip/client";
import type { Clock } from "@gossip/contracts";
import type { Coordinator } from "@gossip/coordination";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";
import { Service } from "../execute/service.ts";
import { RequestHandler } from "../http/request-handler.ts";

/** A server on loopback that serves any number of coordinators, each below a path of its own. */
export class WireServer {
  readonly #server: Server;
  readonly #handlers: RequestHandler[] = [];
  readonly #services: Service[] = [];
  readonly #clients: GossipClient[] = [];
  readonly defects: unknown[] = [];

  static async start(): Promise<WireServer> {
    const server = new WireServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const [, index = "0", rest = "/"] = /^\/(\d+)(\/.*)$/.exec(request.url ?? "") ?? [];
      request.url = rest;
      void this.#handlers[Number(index)]!.handle(request, response);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Serve a coordinator, and return its address. */
  serve(coordinator: Coordinator, clock: Clock): string {
    const service = new Service({
      coordinator,
      clock,
      random: randomBytes,
      nowMs: () => performance.now(),
      timers: {
        after: (ms, then) => {
          const timer = setTimeout(then, ms);
          return () => clearTimeout(timer);
        },
      },
      onDefect: (thrown) => this.defects.push(thrown),
    });
    this.#services.push(service);
    return `${this.url}/${this.#handlers.push(new RequestHandler({ service })) - 1}`;
  }

  /** Serve a coordinator and connect to it. */
  connect(coordinator: Coordinator, clock: Clock, options: Partial<GossipClientOptions> = {}): GossipClient {
    return this.open({ url: this.serve(coordinator, clock), ...options });
  }

  /** A client that does not wait for shards. It is closed with the server. */
  open(options: GossipClientOptions): GossipClient {
    const client = new GossipClient({ claimWaitMs: 0, ...options });
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const service of this.#services) service.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
