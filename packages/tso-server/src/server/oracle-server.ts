import type { Server as HttpServer } from "node:http";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { err, ok, type Result } from "@gossip/stdx";
import { assertArray, assertObject } from "../assert-input.ts";
import type { WatchError } from "../oracle/leadership-watch.ts";
import type { OracleOptions } from "../oracle/oracle-options.ts";
import { Oracle } from "../oracle/oracle.ts";
import { systemTimers, type Timers } from "../time/system-time.ts";
import { FrameConnection } from "./frame-connection.ts";
import { createHttpEndpoints } from "./http-endpoints.ts";
import { assertAddress, closeListener, listen, type ListenAddress, type ListenError } from "./listener.ts";

export interface ServeOptions extends OracleOptions {
  /** Where clients connect: any number of ports and unix sockets. The default port on loopback unless set. */
  readonly listen?: readonly ListenAddress[];
  /** Where people and probes do. Nowhere unless set. */
  readonly http?: ListenAddress;
  /** How long a shutdown waits for what is under way. */
  readonly shutdownGraceMs?: number;
}

/** Why a server ended or did not start. */
export type ServerError = WatchError | ListenError;

export const DEFAULT_PORT = 50_551;

/** Connections that one listener holds at a time; more are turned away. */
const MAX_CONNECTIONS = 20_000;

/** How long a connection that was ended may take to close, once everything is answered. */
const LONGEST_GOODBYE_MS = 1000;

/** An oracle on the wire. */
export class OracleServer {
  readonly oracle: Oracle;
  /** Resolves when the server has stopped: by `shutdown`, or by itself with the reason. */
  readonly finished: Promise<Result<void, ServerError>>;
  /** What it listens on, in the order of the options: `host:port` or a path. */
  readonly addresses: readonly string[];
  readonly httpAddress: string | undefined;
  readonly #parts: ServerParts;
  #stopping: Promise<Result<void, ServerError>> | undefined;

  private constructor(parts: ServerParts, addresses: readonly string[], httpAddress: string | undefined) {
    this.oracle = parts.oracle;
    this.addresses = addresses;
    this.httpAddress = httpAddress;
    this.#parts = parts;
    // An oracle that stops by itself no longer serves: let its clients go and find another.
    this.finished = parts.oracle.finished.then(() => this.shutdown());
  }

  /** Start an oracle and listen. Clients may connect before it leads: they are told so. */
  static async start(options: ServeOptions): Promise<Result<OracleServer, ServerError>> {
    assertObject(options, "the options of a server");
    const {
      listen: wanted = [{ port: DEFAULT_PORT }],
      http,
      shutdownGraceMs = 10_000,
      timers = systemTimers,
    } = options;
    assertArray(wanted, "what a server listens on");
    for (const address of http === undefined ? wanted : [...wanted, http]) assertAddress(address);
    const parts = new ServerParts(new Oracle(options), shutdownGraceMs, timers);
    const addresses: string[] = [];
    for (const address of wanted) {
      const listening = await listen(parts.addFrames(), address);
      if (!listening.ok) return parts.giveUp(listening.error);
      addresses.push(listening.value);
    }
    if (http === undefined) return ok(new OracleServer(parts, addresses, undefined));
    const listening = await listen(parts.addHttp(), http);
    if (!listening.ok) return parts.giveUp(listening.error);
    return ok(new OracleServer(parts, addresses, listening.value));
  }

  /** Refuse new connections, stop granting, answer what was asked, close. Close the driver afterwards. */
  shutdown(): Promise<Result<void, ServerError>> {
    this.#stopping ??= this.#parts.stop();
    return this.#stopping;
  }
}

class ServerParts {
  readonly oracle: Oracle;
  readonly #graceMs: number;
  readonly #timers: Timers;
  readonly #frames: NetServer[] = [];
  readonly #http: HttpServer[] = [];
  readonly #connections = new Set<FrameConnection>();

  constructor(oracle: Oracle, graceMs: number, timers: Timers) {
    this.oracle = oracle;
    this.#graceMs = graceMs;
    this.#timers = timers;
  }

  addFrames(): NetServer {
    const server = createServer((socket) => this.#accept(socket));
    server.maxConnections = MAX_CONNECTIONS;
    this.#frames.push(server);
    return server;
  }

  addHttp(): NetServer {
    const server = createHttpEndpoints(this.oracle);
    this.#http.push(server);
    return server;
  }

  async giveUp(error: ListenError): Promise<Result<never, ServerError>> {
    void (await this.stop());
    return err(error);
  }

  async stop(): Promise<Result<void, ServerError>> {
    const closed = Promise.all([...this.#frames, ...this.#http].map((server) => closeListener(server)));
    const stopped = await this.oracle.shutdown({ graceMs: this.#graceMs });
    for (const connection of this.#connections) connection.end();
    for (const server of this.#http) server.closeIdleConnections();
    // Whoever does not hang up is hung up on.
    const cancel = this.#timers.after(Math.min(this.#graceMs, LONGEST_GOODBYE_MS), () => {
      for (const connection of this.#connections) connection.destroy();
      for (const server of this.#http) server.closeAllConnections();
    });
    await closed;
    cancel();
    return stopped;
  }

  #accept(socket: Socket): void {
    const connection = new FrameConnection(socket, this.oracle);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
  }
}
