import {
  matchPath,
  OPERATIONS,
  protocolError,
  PROTOCOL_ERRORS,
  validatorsOf,
  type BatchName,
  type CallName,
  type ElementOf,
  type ElementResult,
  type LeaseWire,
  type OperationName,
  type OperationSpec,
  type ProtocolError,
} from "@gossip/protocol";
import type { RunId } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import type { IncomingMessage, ServerResponse } from "node:http";
import { OpenRequests } from "../auth/open-requests.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../auth/principal.ts";
import { hidesKeys } from "../console/keyless-operations.ts";
import { streamConsoleEvents } from "../console/stream-console-events.ts";
import { streamEvents } from "../events/stream-events.ts";
import { BATCH_EXECUTORS, defectOf } from "../execute/batch-executors.ts";
import { CALL_EXECUTORS } from "../execute/call-executors.ts";
import type { Call } from "../execute/call.ts";
import { ElementContext, isFailure, type Failure } from "../execute/element-context.ts";
import { executeClaim } from "../execute/execute-claim.ts";
import type { Service } from "../execute/service.ts";
import type { BodyAllowance, Load } from "../limits/admission.ts";
import type { Connections } from "../limits/connections.ts";
import { wantsForwarding, type Forwarder } from "../ownership/forwarder.ts";
import { requestedRunOf, type NamedRun } from "../ownership/requested-run.ts";
import { parseJson, readBody } from "./read-body.ts";
import { respond, respondError, respondFailure } from "./respond.ts";

/** The sender of a request; `undefined` if it is unknown. */
export type Authenticate = (request: IncomingMessage) => Principal | undefined;

/** A line of the audit log: ids and statuses, nothing else. */
export interface AuditEntry {
  readonly token: string;
  readonly operation: OperationName;
  readonly tenant: string | undefined;
  readonly run: string | undefined;
  readonly shard: string | undefined;
  readonly status: number;
}

export interface HandlerOptions {
  readonly service: Service;
  /** Without it, every caller may do everything. */
  readonly authenticate?: Authenticate | undefined;
  /** Whether the token of a sender is still valid. Asked about requests that stay open. */
  readonly isLive?: ((principal: Principal) => boolean) | undefined;
  readonly audit?: ((entry: AuditEntry) => void) | undefined;
  readonly connections?: Connections | undefined;
  /** Passes requests on to the nodes that own their runs, for clients that ask for it. */
  readonly forwarder?: Forwarder | undefined;
}

interface NamedLease {
  readonly lease?: LeaseWire;
}

/** A request whose operation and sender are known. */
interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly name: OperationName;
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: BodyAllowance;
}

/** Turns HTTP requests into operations of the table, and their results into responses. */
export class RequestHandler {
  readonly #service: Service;
  readonly #authenticate: Authenticate | undefined;
  readonly #audit: (entry: AuditEntry) => void;
  readonly #forwarder: Forwarder | undefined;
  readonly #connections: Connections | undefined;
  readonly #open: OpenRequests;
  readonly #streams = new Set<ServerResponse>();

  constructor({ service, authenticate, isLive, audit = () => {}, forwarder, connections }: HandlerOptions) {
    this.#open = new OpenRequests(isLive ?? (() => true));
    this.#forwarder = forwarder;
    this.#connections = connections;
    this.#service = service;
    this.#authenticate = authenticate;
    this.#audit = audit;
  }

  /** Handle a request below `/v1`. Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startMs = this.#service.nowMs();
    let name = "none";
    const body = this.#service.admission.openBody();
    try {
      const received = this.#receive(request, response, body);
      if (!received.ok) return respondError(response, received.error);
      ({ name } = received.value);
      await this.#execute(received.value);
    } catch (thrown) {
      this.#service.onDefect(thrown);
      if (!response.headersSent) respondError(response, DEFECT);
      else response.destroy();
    } finally {
      body.release();
      this.#service.metrics.request(name, response.statusCode, this.#service.nowMs() - startMs);
    }
  }

  /** End every stream of events: the server is about to stop. Readers go on elsewhere after their last id. */
  endStreams(): void {
    for (const response of this.#streams) response.end();
  }

  #receive(request: IncomingMessage, response: ServerResponse, body: BodyAllowance): Result<Received, ProtocolError> {
    const url = request.url ?? "/";
    const queryAt = url.indexOf("?");
    const matched = matchPath(queryAt === -1 ? url : url.slice(0, queryAt));
    // Who has no token learns nothing, not even which paths there are.
    const principal = this.#authenticate === undefined ? LOCAL_PRINCIPAL : this.#authenticate(request);
    if (principal === undefined) {
      response.setHeader("www-authenticate", "Bearer");
      return err(UNAUTHENTICATED);
    }
    if (this.#connections?.use(request.socket, principal.id) === false) {
      response.setHeader("connection", "close");
      return err(protocolError("TooManyRequests", "this token has too many connections", { retryAfterMs: 1_000 }));
    }
    if (matched === undefined) return err(protocolError("UnknownPath", "there is no such path"));
    const name = matched.byMethod.get(request.method ?? "");
    if (name === undefined) {
      response.setHeader("allow", [...matched.byMethod.keys()].join(", "));
      return err(protocolError("WrongMethod", `this path takes ${[...matched.byMethod.keys()].join(", ")}`));
    }
    const { role } = OPERATIONS[name];
    const query = queryAt === -1 ? NO_QUERY : Object.fromEntries(new URLSearchParams(url.slice(queryAt)));
    const received = { request, response, name, principal, params: matched.params, query, body };
    if (this.#service.console?.options.hideKeys === true && !hidesKeys(name))
      return err(protocolError("Forbidden", "this server hides keys, and this operation would show them"));
    if (principal.may(role)) return ok(received);
    this.#auditCall(received, query, FORBIDDEN_STATUS);
    return err(protocolError("Forbidden", `the token must have the role ${role}`));
  }

  async #execute(received: Received): Promise<void> {
    const spec: OperationSpec = OPERATIONS[received.name];
    if (spec.shape === "batch") return this.#executeBatch(received, received.name as BatchName, spec.priority);
    return spec.shape === "call" ? this.#executeCall(received) : this.#stream(received);
  }

  async #executeBatch(received: Received, name: BatchName, priority: "held" | "new"): Promise<void> {
    const { response, principal } = received;
    const body = await this.#readBody(received);
    if (!body.ok) return respondError(response, body.error);
    const { json } = body.value;
    const { elements, waitMs = 0 } = json as { readonly elements: readonly never[]; readonly waitMs?: number };
    const { admission, waiters, limits } = this.#service;
    const isWaiting = waitMs > 0 && waiters.count < limits.maxWaitingClaims;
    const admitted = admission.admit({ token: principal.id, elements: elements.length, priority });
    if (!admitted.ok) return respondError(response, admitted.error);
    this.#service.metrics.elements(name, elements.length);
    // A waiting claim is no work in progress: thousands may wait.
    if (isWaiting) {
      admitted.value();
      received.body.release();
    }
    let isRevoked = false;
    const gone = isWaiting ? new AbortController() : undefined;
    const close =
      gone &&
      this.#open.add(principal, () => {
        isRevoked = true;
        gone.abort();
      });
    if (gone !== undefined) response.on("close", () => gone.abort());
    try {
      const context = new ElementContext(this.#service, principal, gone?.signal ?? NEVER);
      const results = await this.#executeElements(context, name, elements, isWaiting ? waitMs : 0);
      if (isRevoked) return respondError(response, UNAUTHENTICATED);
      const toForward = { elements, results, waitMs: isWaiting ? waitMs : 0 };
      const forwarded = await this.#forwarderOf(received)?.batch(received.request, toForward);
      respond(response, 200, { results: forwarded ?? results });
    } finally {
      close?.();
      admitted.value();
    }
  }

  /** Execute elements at the same time. Hot: it makes no promise of its own for an element. */
  #executeElements(
    context: ElementContext,
    name: BatchName,
    elements: readonly ElementOf<BatchName>[],
    waitMs: number,
  ): Promise<ElementResult[]> {
    const { ownership, console, onDefect } = this.#service;
    if (name === "claim" || ownership !== undefined)
      return Promise.all(elements.map((element) => this.#executeElement(context, name, element, waitMs)));
    const execute = BATCH_EXECUTORS[name] as (
      context: ElementContext,
      element: ElementOf<BatchName>,
    ) => Promise<ElementResult>;
    return new Promise((resolve) => {
      const results: ElementResult[] = Array.from({ length: elements.length });
      let left = elements.length;
      const settle = (index: number, result: ElementResult): void => {
        results[index] = result;
        if ("error" in result) console?.noteRefusal(elements[index] as NamedLease, result.error.kind);
        if (--left === 0) resolve(results);
      };
      const fail = (index: number, thrown: unknown): void => {
        onDefect(thrown);
        settle(index, defectOf(context));
      };
      elements.forEach((element, index) => {
        try {
          execute(context, element).then(
            (result) => settle(index, result),
            (thrown: unknown) => fail(index, thrown),
          );
        } catch (thrown) {
          fail(index, thrown);
        }
      });
    });
  }

  async #executeElement(
    context: ElementContext,
    name: BatchName,
    element: ElementOf<BatchName>,
    waitMs: number,
  ): Promise<ElementResult> {
    try {
      if (name === "claim") return await executeClaim(context, element as ElementOf<"claim">, waitMs);
      const execute = BATCH_EXECUTORS[name] as (
        context: ElementContext,
        element: ElementOf<BatchName>,
      ) => Promise<ElementResult>;
      const result = await this.#owning(context, element, () => execute(context, element));
      if ("error" in result) this.#service.console?.noteRefusal(element as NamedLease, result.error.kind);
      return result;
    } catch (thrown) {
      this.#service.onDefect(thrown);
      return defectOf(context);
    }
  }

  async #executeCall(received: Received): Promise<void> {
    const { response, principal, params, name, query } = received;
    const checked = this.#checkQuery(received);
    if (!checked.ok) return respondError(response, checked.error);
    const hasBody = validatorsOf(name).body !== undefined;
    const body = hasBody ? await this.#readBody(received) : ok({ json: undefined });
    if (!body.ok) return respondError(response, body.error);
    const { json } = body.value;
    const load = loadOf(name, json);
    const admitted = this.#service.admission.admit({ token: principal.id, ...load });
    if (!admitted.ok) return respondError(response, admitted.error);
    if (load.priority === "held") this.#service.metrics.elements(name, load.elements);
    try {
      const execute = CALL_EXECUTORS[name as CallName] as (
        context: ElementContext,
        call: Call<CallName>,
      ) => Promise<{ readonly ok: unknown } | Failure>;
      const context = this.#contextOf(received);
      const named = name === "routeRun" ? {} : { ...query, ...(json as NamedRun | undefined), ...params };
      const result = await this.#owning(context, named, () =>
        execute(context, { params, query, body: json } as Call<CallName>),
      );
      const forwarder = isFailure(result) ? this.#forwarderOf(received) : undefined;
      const forwarded = await forwarder?.call(received.request, json, result as Failure);
      if (forwarded !== undefined) respond(response, forwarded.status, forwarded.json);
      else if (isFailure(result)) respondFailure(response, result);
      else respond(response, 200, result.ok);
    } finally {
      admitted.value();
    }
    this.#auditCall(received, (json ?? query) as NamedRun, response.statusCode);
  }

  /** Note a call of an operator, whether it was allowed or not. */
  #auditCall({ name, principal, params }: Received, { tenant, run }: NamedRun, status: number): void {
    const spec: OperationSpec = OPERATIONS[name];
    if (spec.shape !== "call" || spec.isAudited !== true) return;
    this.#audit({
      token: principal.id,
      operation: name,
      tenant: tenant ?? principal.onlyTenant,
      run: params["run"] ?? run,
      shard: params["shard"],
      status,
    });
  }

  /** Execute for the run that a request names, if this node owns it. */
  #owning<T>(context: ElementContext, named: NamedRun, execute: () => Promise<T>): Promise<T | Failure> {
    const run = requestedRunOf(context.principal, named);
    return run === undefined ? execute() : context.owning(run, execute);
  }

  #forwarderOf({ request }: Received): Forwarder | undefined {
    return wantsForwarding(request) ? this.#forwarder : undefined;
  }

  #stream(received: Received): void {
    const { request, response, query } = received;
    const checked = this.#checkQuery(received);
    if (!checked.ok) return respondError(response, checked.error);
    const { events, limits } = this.#service;
    const readers = events.readerCount + (this.#service.console?.events.readerCount ?? 0);
    if (readers >= limits.maxEventStreams)
      return respondError(response, protocolError("Overloaded", "too many readers of events"));
    const tenant = this.#contextOf(received).resolveTenant(query["tenant"]);
    if (isFailure(tenant)) return respondFailure(response, tenant);
    const run = query["run"] === undefined ? undefined : (BigInt(`0x${query["run"]}`) as RunId);
    const after = (request.headers["last-event-id"] as string | undefined) ?? query["after"];
    const close = this.#open.add(received.principal, () => response.destroy());
    this.#streams.add(response);
    response.on("close", () => {
      this.#streams.delete(response);
      close();
    });
    const { console: service } = this.#service;
    if (received.name === "consoleEvents") {
      if (service === undefined)
        return respondError(response, protocolError("UnknownPath", "this server has no console"));
      const { maxUnsentEventBytes: maxUnsentBytes } = limits;
      return void streamConsoleEvents(response, { service, tenant, run, after, maxUnsentBytes });
    }
    streamEvents(response, {
      log: events,
      filter: { tenant, run },
      after,
      format: (request.headers.accept ?? "").includes("application/x-ndjson") ? "ndjson" : "sse",
      maxUnsentBytes: limits.maxUnsentEventBytes,
    });
  }

  async #readBody(received: Received): Promise<Result<{ readonly json: unknown }, ProtocolError>> {
    const { request, response, name } = received;
    const body = await readBody(request, this.#service.limits.maxBodyBytes, received.body);
    if (!body.ok) {
      // The rest of the body is not read.
      response.setHeader("connection", "close");
      return body;
    }
    const json = parseJson(request, body.value);
    if (!json.ok) return json;
    const checked = validatorsOf(name).body!.check(json.value);
    if (checked.ok) return ok({ json: json.value });
    const { field, expected } = checked.error;
    return err(protocolError("BadRequest", `${field === "" ? "the body" : field} must be ${expected}`, { field }));
  }

  #checkQuery({ name, query }: Received): Result<void, ProtocolError> {
    const checked = validatorsOf(name).query?.check(query);
    if (checked === undefined ? Object.keys(query).length === 0 : checked.ok) return ok();
    const field = checked?.ok === false ? checked.error.field : Object.keys(query)[0]!;
    return err(protocolError("BadRequest", `${field} is not a parameter of this path, or not in its form`, { field }));
  }

  #contextOf({ principal }: Received): ElementContext {
    return new ElementContext(this.#service, principal, NEVER);
  }
}

/** How much work a call is. */
function loadOf(name: OperationName, json: unknown): Pick<Load, "elements" | "priority"> {
  const spec: OperationSpec = OPERATIONS[name];
  if (spec.shape !== "call" || spec.column === undefined) return ONE_CALL;
  return { elements: (json as Readonly<Record<string, readonly unknown[]>>)[spec.column]!.length, priority: "held" };
}

const ONE_CALL = { elements: 1, priority: "new" } as const;
const NEVER = new AbortController().signal;
const NO_QUERY = {};
const FORBIDDEN_STATUS = PROTOCOL_ERRORS.Forbidden.status;
const UNAUTHENTICATED = protocolError("Unauthenticated", "send a valid token as `Authorization: Bearer TOKEN`");
const DEFECT = protocolError("InternalError", "the server could not execute this; its log has the reason");
