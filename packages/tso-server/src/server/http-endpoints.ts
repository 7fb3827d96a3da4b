import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { TlsOptions } from "node:tls";
import { Timestamp, WindowGrant } from "@gossip/tso";
import { renderPrometheus } from "../metrics/prometheus.ts";
import type { GetTsError } from "../oracle/get-ts-error.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { reasonOf, STATUS_OF, type Status } from "../wire/status.ts";
import type { Access } from "./access.ts";
import type { ConnectionTable } from "./connection-table.ts";

const HTTP_CODES = {
  NotLeader: 503,
  InvalidArgument: 400,
  OutOfRange: 500,
  Internal: 500,
  Unavailable: 503,
  ResourceExhausted: 429,
  Unauthenticated: 401,
} as const satisfies Record<Status, number>;

const MAX_HEADER_SIZE = 4096;

/**
 * The oracle for people and probes. It is not built for speed; the framed protocol is.
 *
 * - `GET /v1/timestamp?count=` timestamps, as decimal text: JSON numbers cannot hold them
 * - `GET /healthz` whether the process answers
 * - `GET /readyz` whether this node would grant a request now
 * - `GET /metrics` Prometheus text
 *
 * If the server has tokens, timestamps and metrics need one: `Authorization: Bearer TOKEN`. Probes do not.
 */
export function createHttpEndpoints(
  oracle: Oracle,
  {
    table,
    access,
    tls,
  }: { readonly table: ConnectionTable; readonly access: Access; readonly tls: TlsOptions | undefined },
): Server {
  const { prefaceTimeoutMs, idleTimeoutMs, unsentTimeoutMs } = table.limits;
  const options = {
    headersTimeout: prefaceTimeoutMs,
    requestTimeout: prefaceTimeoutMs,
    // How often Node looks for connections that are past the two timeouts above.
    connectionsCheckingInterval: Math.max(1, Math.min(1000, Math.floor(prefaceTimeoutMs / 4))),
    keepAliveTimeout: Math.min(5000, idleTimeoutMs),
    maxHeaderSize: MAX_HEADER_SIZE,
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(oracle, { access, request, response });
  const server =
    tls === undefined ? createServer(options, onRequest) : createTlsServer({ ...options, ...tls }, onRequest);
  // A socket on which no byte moves: its client sends nothing, or does not read its answer.
  server.setTimeout(Math.min(unsentTimeoutMs, idleTimeoutMs));
  server.on("connection", (socket) => table.admit(socket));
  return server;
}

interface Exchange {
  readonly access: Access;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(oracle: Oracle, { access, request, response }: Exchange): Promise<void> {
  // Not `new URL`, which throws at some request targets, such as "//".
  const [pathname = "/", query] = (request.url ?? "/").split("?", 2);
  if (request.method !== "GET" && request.method !== "HEAD")
    return reply(response, 405, { kind: "MethodNotAllowed" }, { allow: "GET, HEAD" });
  if (NEEDS_TOKEN.has(pathname) && !isAdmitted(access, request.headers.authorization)) {
    oracle.metrics.counter("tsoracle.get_ts.unauthenticated.total").add();
    return reply(response, HTTP_CODES.Unauthenticated, { kind: "Unauthenticated" }, { "www-authenticate": "Bearer" });
  }
  switch (pathname) {
    case "/v1/timestamp":
      return answerTimestamp(oracle, new URLSearchParams(query).get("count"), request.socket, response);
    case "/healthz":
      return reply(response, 200, { status: "alive" });
    case "/readyz":
      return reply(response, oracle.isReady ? 200 : 503, {
        status: oracle.isReady ? "ready" : "not ready",
        ...stateOf(oracle),
      });
    case "/metrics":
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(renderPrometheus(oracle.metrics));
      return undefined;
    default:
      return reply(response, 404, { kind: "NotFound" });
  }
}

const NEEDS_TOKEN: ReadonlySet<string> = new Set(["/v1/timestamp", "/metrics"]);

function isAdmitted(access: Access, authorization: string | undefined): boolean {
  if (access.isOpen) return true;
  const [, token] = /^Bearer ([\x21-\x7e]+)$/iu.exec(authorization ?? "") ?? [];
  return token !== undefined && access.accepts(token);
}

async function answerTimestamp(
  oracle: Oracle,
  countText: string | null,
  caller: object,
  response: ServerResponse,
): Promise<void> {
  // The oracle refuses an empty or malformed count: `Number` makes it 0 or NaN.
  const granted = await oracle.getTs(countText === null ? 1 : Number(countText), caller);
  if (!granted.ok) return reply(response, HTTP_CODES[STATUS_OF[granted.error.kind]], refusalOf(granted.error));
  const { physicalMs, logicalStart, count, epoch } = granted.value;
  const first = WindowGrant.first(granted.value);
  return reply(response, 200, {
    timestamp: first.toString(),
    hex: Timestamp.format(first),
    physicalMs,
    logical: logicalStart,
    count,
    epoch: epoch.toString(),
  });
}

function refusalOf(error: GetTsError): object {
  if (error.kind !== "NotLeader") return { kind: error.kind, reason: reasonOf(error) };
  return { kind: error.kind, ...hintOf(error.leaderEndpoint, error.leaderEpoch) };
}

function stateOf(oracle: Oracle): object {
  const { state } = oracle;
  return state.kind === "Serving" ? { epoch: state.epoch.toString() } : hintOf(state.leaderEndpoint, state.leaderEpoch);
}

function hintOf(leader: string | undefined, epoch: bigint | undefined): object {
  return {
    ...(leader === undefined ? {} : { leader }),
    ...(epoch === undefined ? {} : { leaderEpoch: epoch.toString() }),
  };
}

function reply(
  response: ServerResponse,
  code: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(`${JSON.stringify(body)}\n`);
}
