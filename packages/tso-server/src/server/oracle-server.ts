import type { Server as HttpServer } from "node:http";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { createServer as createTlsServer, Server as TlsServer, type TlsOptions } from "node:tls";
import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray } from "../assert-input.ts";
import type { WatchError } from "../oracle/leadership-watch.ts";
import type { OracleOptions } from "../oracle/oracle-options.ts";
import { Oracle } from "../oracle/oracle.ts";
import { systemMonotonicClock, systemTimers, type Timers } from "../time/system-time.ts";
import { Access } from "./access.ts";
import { ConnectionTable } from "./connection-table.ts";
import { FrameConnection } from "./frame-connection.ts";
import { createHttpEndpoints } from "./http-endpoints.ts";
import { RequestTurns } from "./request-turns.ts";
import { assertAddress, closeListener, listen, type ListenAddress, type ListenError } from "./listener.ts";
import { completeLimits, type ServerLimits } from "./server-limits.ts";
import { secureOptions, type ServerTls } from "./server-tls.ts";

export interface ServeOptions extends OracleOptions {
  /** Where clients connect: any number of ports and unix sockets. The default port on loopback unless set. */
  readonly listen?: readonly ListenAddress[];
  /** Where the HTTP endpoints listen. Nowhere unless set. */
  readonly http?: ListenAddress;
  /** How long a shutdown waits for pending requests. */
  readonly shutdownGraceMs?: number;
  /** Limits of connections; `DEFAULT_LIMITS` where left out. */
  readonly limits?: Partial<ServerLimits>;
  /** Encrypts every port, HTTP included. Unix sockets stay plain: the permissions of the file protect them. */
  readonly tls?: ServerTls;
  /** Hashes (`hashToken`) of the tokens of clients. If given, a client without one of them gets no timestamps. */
  readonly tokens?: readonly string[];
}

/** Why a server ended or did not start. */
export type ServerError = WatchError | ListenError;

export const DEFAULT_PORT = 50_551;

/** How long a connection that was ended may take to close, once everything is answered. */
const LONGEST_GOODBYE_MS = 1000;

/** An oracle on the wire. */
export class OracleServer {
  readonly oracle: Oracle;
  /** One for each protocol: clients that use up the framed connections leave the probes theirs. */
  readonly #tables: { readonly frames: ConnectionTable; readonly http: ConnectionTable };
  readonly #turns = new RequestTurns();
  readonly #graceMs: number;
  readonly #access: Access;
  readonly #tls: TlsOptions | undefined;
  readonly #limits: ServerLimits;
  readonly #timers: Timers;
  readonly #frames: NetServer[] = [];
  readonly #http: HttpServer[] = [];
  readonly #connections = new Set<FrameConnection>();
  /** Every open connection, also one whose TLS handshake is not over. */
  readonly #sockets = new Set<Socket>();
  readonly #addresses: string[] = [];
  #httpAddress: string | undefined;
  #finished: Promise<Result<void, ServerError>> | undefined;
  #stopping: Promise<Result<void, ServerError>> | undefined;

  private constructor(options: ServeOptions) {
    const { shutdownGraceMs = 10_000, timers = systemTimers, monotonicClock = systemMonotonicClock } = options;
    this.#limits = completeLimits(options.limits ?? {});
    this.#access = new Access(options.tokens);
    this.#tls = options.tls === undefined ? undefined : secureOptions(options.tls, this.#limits);
    this.#graceMs = shutdownGraceMs;
    this.#timers = timers;
    this.oracle = new Oracle(options);
    const { metrics } = this.oracle;
    const parts = { limits: this.#limits, metrics, timers, monotonicClock };
    const tables = { frames: new ConnectionTable(parts), http: new ConnectionTable(parts) };
    metrics.gauge("tsoracle.connection.open").follow(() => tables.frames.open + tables.http.open);
    metrics.gauge("tsoracle.connection.unsent_bytes").follow(() => tables.frames.unsentBytes);
    this.#tables = tables;
  }

  /** Start an oracle and listen. Clients that connect before it leads are refused with `NotLeader`. */
  static async start(options: ServeOptions): Promise<Result<OracleServer, ServerError>> {
    assertObject(options, "the options of a server");
    const { listen: wanted = [{ port: DEFAULT_PORT }], http } = options;
    assertArray(wanted, "what a server listens on");
    for (const address of http === undefined ? wanted : [...wanted, http]) assertAddress(address);
    const server = new OracleServer(options);
    for (const address of wanted) {
      const listening = await listen(server.#addFrames({ isEncrypted: !("path" in address) }), address);
      if (!listening.ok) return server.#giveUp(listening.error);
      server.#addresses.push(listening.value);
    }
    if (http !== undefined) {
      const listening = await listen(server.#addHttp({ isEncrypted: !("path" in http) }), http);
      if (!listening.ok) return server.#giveUp(listening.error);
      server.#httpAddress = listening.value;
    }
    // An oracle that stops by itself no longer serves: disconnect its clients, so that they look for another.
    server.#finished = server.oracle.finished.then(() => server.shutdown());
    return ok(server);
  }

  /** What it listens on, in the order of the options: `host:port` or a path. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get httpAddress(): string | undefined {
    return this.#httpAddress;
  }

  /** Resolves when the server has stopped: by `shutdown`, or by itself with the reason. */
  get finished(): Promise<Result<void, ServerError>> {
    return this.#finished!;
  }

  /**
   * Use other certificates for new connections. Does nothing to a server without TLS. Throws `InvariantViolation` if
   * certificate and key cannot be used together.
   */
  reloadTls(tls: ServerTls): void {
    const options = secureOptions(tls, this.#limits);
    for (const server of [...this.#frames, ...this.#http])
      if (server instanceof TlsServer) server.setSecureContext(options);
  }

  /**
   * Accept the tokens with these hashes (`hashToken`) and no others. Closes connections whose token is not among them.
   * Does nothing to a server without tokens.
   */
  reloadTokens(tokens: readonly string[]): void {
    this.#access.replace(tokens);
    for (const connection of this.#connections) connection.checkToken();
  }

  /** Refuse new connections, stop granting, answer what was asked, close. Close the driver afterwards. */
  shutdown(): Promise<Result<void, ServerError>> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #addFrames({ isEncrypted }: { readonly isEncrypted: boolean }): NetServer {
    const tls = isEncrypted ? this.#tls : undefined;
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    // Counted before the handshake: a client that never finishes one is held to the limits, too.
    server.on("connection", (socket: Socket) => this.#tables.frames.admit(socket) && this.#track(socket));
    server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
      if (!socket.destroyed) this.#accept(socket);
    });
    server.on("tlsClientError", () => this.oracle.metrics.counter("tsoracle.connection.malformed.total").add());
    this.#frames.push(server);
    return server;
  }

  #addHttp({ isEncrypted }: { readonly isEncrypted: boolean }): NetServer {
    const tls = isEncrypted ? this.#tls : undefined;
    const server = createHttpEndpoints(this.oracle, { table: this.#tables.http, access: this.#access, tls });
    server.on("connection", (socket: Socket) => this.#track(socket));
    this.#http.push(server);
    return server;
  }

  async #giveUp(error: ListenError): Promise<Result<never, ServerError>> {
    void (await this.shutdown());
    return err(error);
  }

  async #stop(): Promise<Result<void, ServerError>> {
    const closed = Promise.all([...this.#frames, ...this.#http].map((server) => closeListener(server)));
    const stopped = await this.oracle.shutdown({ graceMs: this.#graceMs });
    for (const connection of this.#connections) connection.end();
    for (const server of this.#http) server.closeIdleConnections();
    // A client that does not close its end is cut off.
    const cancel = this.#timers.after(Math.min(this.#graceMs, LONGEST_GOODBYE_MS), () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    await closed;
    cancel();
    this.#tables.frames.close();
    return stopped;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #accept(socket: Socket): void {
    const parts = { oracle: this.oracle, table: this.#tables.frames, turns: this.#turns, access: this.#access };
    const connection = new FrameConnection(socket, parts);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
  }
}
