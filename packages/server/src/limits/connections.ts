import type { Socket } from "node:net";
import type { ServiceLimits } from "./limits.ts";

/** Counts connections, in all, by address and by token. */
export class Connections {
  readonly #limits: ServiceLimits;
  readonly #sockets = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  readonly #byToken = new Map<string, number>();
  readonly #tokens = new WeakMap<Socket, string>();

  constructor(limits: ServiceLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Count a new connection. Closes it, and returns false, if its address has too many. */
  accept(socket: Socket): boolean {
    const address = socket.remoteAddress ?? "";
    if ((this.#byAddress.get(address) ?? 0) >= this.#limits.maxConnectionsPerAddress) {
      socket.destroy();
      return false;
    }
    add(this.#byAddress, address, 1);
    this.#sockets.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      add(this.#byAddress, address, -1);
    });
    return true;
  }

  /**
   * Note that a request with this token came over a connection. Returns false if the token has too many connections.
   *
   * Over TLS this is another socket than the accepted one, so it is watched by itself.
   */
  use(socket: Socket, token: string): boolean {
    const before = this.#tokens.get(socket);
    if (before === token) return true;
    if ((this.#byToken.get(token) ?? 0) >= this.#limits.maxConnectionsPerToken) return false;
    if (before === undefined) socket.once("close", () => this.#forgetToken(socket));
    else this.#forgetToken(socket);
    this.#tokens.set(socket, token);
    add(this.#byToken, token, 1);
    return true;
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #forgetToken(socket: Socket): void {
    const token = this.#tokens.get(socket);
    if (token === undefined) return;
    this.#tokens.delete(socket);
    add(this.#byToken, token, -1);
  }
}

function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
