// A link between a client and a server that a test can cut and mend: a partition, seen from one side.
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class CuttableLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: URL) {
    this.#server = createServer((near) => {
      this.#keep(near);
      if (this.#isCut) return;
      const far = createConnection({ host: target.hostname, port: Number(target.port) });
      this.#keep(far);
      near.on("data", (chunk) => this.#isCut || far.write(chunk));
      far.on("data", (chunk) => this.#isCut || near.write(chunk));
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
  }

  static async to(endpoint: string): Promise<CuttableLink> {
    const link = new CuttableLink(new URL(endpoint));
    await new Promise<void>((resolve) => link.#server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Nothing gets through any more, in either direction, and neither side notices. */
  cut(): void {
    this.#isCut = true;
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
