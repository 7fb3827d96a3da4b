import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { seededRandom } from "../explore/effort.ts";

/** What to do with the next message of a client that holds some text. */
interface Trap {
  readonly text: string;
  /** `Before`: the server never gets it. `After`: it does, and its answer goes nowhere. */
  readonly when: "Before" | "After";
  readonly sprung: () => void;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isMuted: boolean;
}

/** Stands between a store and its server, and cuts connections where it hurts. */
export class CuttingProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  readonly #listener = createServer((client) => this.#link(client));
  readonly #url: URL;
  readonly #random = seededRandom();
  #trap: Trap | undefined;

  private constructor(url: string) {
    this.#url = new URL(url);
    this.#target = { host: this.#url.hostname, port: Number(this.#url.port) };
  }

  static async before(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(url);
    await new Promise<void>((resolve) => void proxy.#listener.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** The server's URL, by way of this. */
  get url(): string {
    const url = new URL(this.#url);
    url.port = String((this.#listener.address() as AddressInfo).port);
    return url.href;
  }

  /** Cut the connection on which the next message with `text` in it comes. Settles when that has happened. */
  cut(when: Trap["when"], text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#trap = { text, when, sprung: resolve };
    });
  }

  /** Cut one connection in `oneIn`: at once, or when its server next answers, so that the answer is lost. */
  cutSome(how: "Now" | "AtAnswer", oneIn: number): void {
    for (const link of this.#links) {
      if (this.#random() * oneIn > 1) continue;
      if (how === "Now") this.#end(link);
      else link.isMuted = true;
    }
  }

  async close(): Promise<void> {
    this.cutSome("Now", 1);
    await new Promise<void>((resolve) => void this.#listener.close(() => resolve()));
  }

  #link(client: Socket): void {
    const link: Link = { client, server: connect(this.#target), isMuted: false };
    this.#links.add(link);
    for (const socket of [client, link.server]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#end(link));
      socket.on("close", () => this.#end(link));
    }
    client.on("data", (chunk: Buffer) => this.#forward(link, chunk));
    link.server.on("data", (chunk: Buffer) => {
      if (link.isMuted) this.#end(link);
      else client.write(chunk);
    });
  }

  #forward(link: Link, chunk: Buffer): void {
    const trap = this.#trap;
    if (trap === undefined || !chunk.includes(trap.text)) {
      link.server.write(chunk);
      return;
    }
    this.#trap = undefined;
    if (trap.when === "Before") this.#end(link);
    else {
      link.isMuted = true;
      link.server.write(chunk);
    }
    trap.sprung();
  }

  #end(link: Link): void {
    if (!this.#links.delete(link)) return;
    link.client.destroy();
    // What has been sent is the server's: it goes on with it, and finds out later that the client is gone.
    link.server.end();
  }
}
