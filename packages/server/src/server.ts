import type { Coordinator } from "@gossip/coordination";
import { assertCount, err, ok, type Result } from "@gossip/stdx";
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { refuseForeignPage } from "./console/browser-guard.ts";
import { serveConsoleFile, type ServedFiles } from "./console/console-files.ts";
import type { Principal } from "./auth/principal.ts";
import { Service, type ServiceOptions } from "./execute/service.ts";
import { RequestHandler, type AuditEntry, type Authenticate } from "./http/request-handler.ts";
import type { ClusterHandler } from "./move/cluster-handler.ts";
import { CLUSTER_PATH } from "./move/http-peer.ts";
import { Connections } from "./limits/connections.ts";
import { respondError, respondText } from "./http/respond.ts";
import { Forwarder } from "./ownership/forwarder.ts";
import { PeerLinks } from "./ownership/peer-links.ts";
import { PeerSight } from "./ownership/peer-sight.ts";

/** Where to listen. Port 0 picks a free one. */
export interface ServiceAddress {
  readonly host?: string;
  readonly port: number;
}

/** Certificates as PEM text. With `ca`, clients must show a certificate that it signed. */
export interface TlsFiles {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  readonly ca?: string | Buffer | undefined;
}

export interface ServerOptions extends Omit<ServiceOptions, "random" | "nowMs" | "timers"> {
  /** Serves the calls of other nodes of the cluster. */
  readonly clusterHandler?: ClusterHandler | undefined;
  readonly coordinator: Coordinator;
  readonly listen: ServiceAddress;
  readonly authenticate?: Authenticate | undefined;
  /** Whether the token of a sender is still valid. Streams and waiting claims of one that is not are ended. */
  readonly isLive?: ((principal: Principal) => boolean) | undefined;
  readonly tls?: TlsFiles | undefined;
  readonly audit?: ((entry: AuditEntry) => void) | undefined;
  /** The files of the web console, served below `/console/`. */
  readonly console?: ServedFiles | undefined;
  /** Whether `authenticate` lets everyone in who reaches the server, so that it must answer to loopback names only. */
  readonly isOpen?: boolean;
  /** Metrics of other parts of the program, in the Prometheus text format. */
  readonly moreMetrics?: () => string;
}

/** Why a server does not start. */
export type ServeError =
  /** Without authentication, every client that reaches the port may do everything. */
  | { readonly kind: "NeedsAuthentication"; readonly host: string }
  | { readonly kind: "ListenFailed"; readonly host: string; readonly port: number; readonly code: string };

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);
const NO_TIME = "no time from the clock";
/** How long a node may take to get the time before it is not ready. */
const CLOCK_PATIENCE_MS = 2_000;
/** How often a server that stops closes the connections that have become idle. */
const CLOSE_IDLE_MS = 20;

/** A node of the service: listens, and executes what clients ask for. */
export class GossipServer {
  readonly #server: Server | TlsServer;
  readonly #service: Service;
  readonly #moreMetrics: () => string;
  readonly #connections: Connections;
  readonly #host: string;
  /** To the other nodes of the cluster. */
  readonly #links: PeerLinks | undefined;
  readonly #handler: RequestHandler;

  static async start(options: ServerOptions): Promise<Result<GossipServer, ServeError>> {
    const { host = "127.0.0.1", port } = options.listen;
    assertCount(port, "port", { min: 0, max: 65_535 });
    if (options.authenticate === undefined && !LOOPBACK.has(host)) return err({ kind: "NeedsAuthentication", host });
    const server = new GossipServer(options, host);
    const code = await server.#listen(host, port);
    if (code === undefined) return ok(server);
    server.#service.close();
    return err({ kind: "ListenFailed", host, port, code });
  }

  private constructor(options: ServerOptions, host: string) {
    this.#host = host;
    this.#moreMetrics = options.moreMetrics ?? (() => "");
    this.#links = (options.ownership ?? options.cluster) && new PeerLinks(options.tls);
    this.#service = new Service({
      ...options,
      random: randomBytes,
      nowMs: () => performance.now(),
      timers: {
        after: (ms, then) => {
          const timer = setTimeout(then, ms);
          return () => clearTimeout(timer);
        },
      },
    });
    if (this.#links !== undefined && this.#service.console !== undefined)
      this.#service.console.peers = new PeerSight({ links: this.#links, nowMs: () => performance.now() });
    const { limits } = this.#service;
    this.#connections = new Connections(limits);
    const handler = (this.#handler = new RequestHandler({
      service: this.#service,
      connections: this.#connections,
      authenticate: options.authenticate,
      isLive: options.isLive,
      audit: options.audit,
      forwarder: this.#links && new Forwarder(this.#links),
    }));
    const { console: files } = options;
    const isOpen = options.isOpen ?? options.authenticate === undefined;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      // A client that keeps its connection would keep the server from stopping.
      if (this.#service.isDraining) response.setHeader("connection", "close");
      const refused = refuseForeignPage(request, { isOpen });
      if (refused !== undefined) return respondError(response, refused);
      if (files !== undefined && serveConsoleFile(request, response, files)) return;
      if (request.url?.startsWith("/v1/") === true) void handler.handle(request, response);
      else if (request.url?.startsWith(CLUSTER_PATH) === true && options.clusterHandler !== undefined)
        void options.clusterHandler.handle(request, response);
      else void this.#probe(request, response);
    };
    const settings = {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      // For TLS: a client that connects and sends nothing.
      handshakeTimeout: limits.headersTimeoutMs,
      noDelay: true,
    };
    this.#server =
      options.tls === undefined
        ? createServer(settings, onRequest)
        : createTlsServer({ ...settings, ...tlsSettings(options.tls) }, onRequest);
    this.#server.maxConnections = limits.maxConnections;
    this.#server.timeout = limits.idleTimeoutMs;
    this.#server.on("connection", (socket: Socket) => void this.#connections.accept(socket));
  }

  /** The address that clients connect to, such as `http://127.0.0.1:7711`. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    const host = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return `${this.#server instanceof TlsServer ? "https" : "http"}://${host}:${port}`;
  }

  /** Claims that wait for a shard. */
  get waitingClaims(): number {
    return this.#service.waiters.count;
  }

  get connectionCount(): number {
    return this.#connections.count;
  }

  /** Use other certificates for new connections, also for those to other nodes. */
  reloadTls(tls: TlsFiles): void {
    if (!(this.#server instanceof TlsServer)) return;
    this.#server.setSecureContext(tlsSettings(tls));
    this.#links?.reload(tls);
  }

  /** Finish what is in progress, refuse what is new, and close. Cuts the connections that are left after `graceMs`. */
  async drain({ graceMs = 10_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#service.drain();
    const unwatched = this.#service.console?.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#handler.endStreams();
    // Connections become idle one by one, as what is in progress finishes.
    this.#server.closeIdleConnections();
    const closing = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    const cutting = setTimeout(() => this.#connections.closeAll(), graceMs);
    await closed;
    clearInterval(closing);
    clearTimeout(cutting);
    await unwatched;
    this.#links?.close();
    this.#service.close();
  }

  /** Close at once. Requests in progress get no answer; their clients repeat them. */
  async close(): Promise<void> {
    await this.drain({ graceMs: 0 });
  }

  #listen(host: string, port: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const onError = ({ code = "UNKNOWN" }: NodeJS.ErrnoException): void => resolve(code);
      this.#server.once("error", onError);
      this.#server.listen({ host, port, backlog: 4_096 }, () => {
        this.#server.off("error", onError);
        resolve(undefined);
      });
    });
  }

  /** `/healthz`, `/readyz` and `/metrics`, for probes without a token. They show nothing of any tenant. */
  async #probe(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "GET") return respondText(response, 405, "only GET\n");
    if (request.url === "/healthz") return respondText(response, 200, "ok\n");
    if (request.url === "/metrics") return respondText(response, 200, this.#renderMetrics());
    if (request.url !== "/readyz") return respondText(response, 404, "there is no such path\n");
    const reason = await this.#notReady();
    return respondText(response, reason === undefined ? 200 : 503, `${reason ?? "ready"}\n`);
  }

  async #notReady(): Promise<string | undefined> {
    if (this.#service.isDraining) return "draining";
    if (this.#service.ownership?.ownsAny === false) return "owns nothing";
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(NO_TIME), CLOCK_PATIENCE_MS);
    });
    const reason = await Promise.race([this.#askClock(), patience]);
    clearTimeout(timer);
    return reason;
  }

  async #askClock(): Promise<string | undefined> {
    try {
      await this.#service.clock.now();
      return undefined;
    } catch {
      return NO_TIME;
    }
  }

  #renderMetrics(): string {
    const { admission, waiters, metrics, events } = this.#service;
    return (
      metrics.render({
        gossip_connections: this.#connections.count,
        gossip_pending_elements: admission.pendingElements,
        gossip_pending_body_bytes: admission.pendingBytes,
        gossip_refused_requests: admission.refusedRequests,
        gossip_waiting_claims: waiters.count,
        gossip_event_streams: events.readerCount,
      }) + this.#moreMetrics()
    );
  }
}

function tlsSettings({ cert, key, ca }: TlsFiles) {
  return { cert, key, ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }) };
}
