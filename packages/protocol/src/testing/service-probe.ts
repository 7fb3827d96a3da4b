import { randomBytes } from "node:crypto";
import { OPERATIONS, type BatchName, type OperationName, type OperationSpec } from "../table/operations.ts";
import { matchPath } from "../table/match-path.ts";
import type { ElementOf, ErrorWire, ResponseOf } from "../table/wire-types.ts";
import { ErrorSchema } from "../schema/records.ts";
import { batchResponseSchema, makeValidator, type Validator } from "../validate/validator.ts";
import { ConformanceFailure, demand, demandMatch } from "./expect-wire.ts";

/** A server, and tokens for it. */
export interface ServiceUnderTest {
  /** Such as `http://127.0.0.1:7711`. */
  readonly url: string;
  /** A token with the role `operate`. Left out if the server asks for none. */
  readonly token?: string | undefined;
  /** The tenant to work for. The token must be allowed to use it. */
  readonly tenant: string;
  /** A token with the role `operate` for another tenant only. Without it, the cases about tenants are skipped. */
  readonly strangerToken?: string | undefined;
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another token, or none. */
  readonly token?: string | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

/** How long a server may take to answer, beyond the time that it was asked to wait. */
const PATIENCE_MS = 30_000;

/** Sends requests, and checks the form of everything that comes back. */
export class ServiceProbe {
  readonly service: ServiceUnderTest;
  readonly #validators = new Map<OperationName, Validator<unknown>>();
  readonly #errors = makeValidator(ErrorSchema);
  readonly #runs: string[] = [];

  constructor(service: ServiceUnderTest) {
    this.service = service;
  }

  get tenant(): string {
    return this.service.tenant;
  }

  /** A random id. */
  id(): string {
    return randomBytes(8).toString("hex");
  }

  /** Send a request. A response of 200 must have the form of its operation, any other must be an error. */
  async ask(path: string, asked: Asked = {}): Promise<Answered> {
    const response = await this.open(path, asked);
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw new ConformanceFailure(`${path}: the body must be JSON, status ${response.status}`);
    }
    const type = response.headers.get("content-type") ?? "";
    demand(type.startsWith("application/json"), `${path}: the response must be application/json, got ${type}`);
    if (response.status === 200) this.#checkForm(path, asked, json);
    else this.#checkError(path, (json as { readonly error?: unknown }).error);
    return { status: response.status, headers: response.headers, json };
  }

  open(path: string, asked: Asked = {}): Promise<Response> {
    const { method, body, text, headers = {} } = asked;
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const token = "token" in asked ? asked.token : this.service.token;
    return fetch(`${this.service.url}${path}`, {
      method: method ?? (payload === undefined ? "GET" : "POST"),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  }

  /** Send a request that must succeed. */
  async call<Name extends OperationName>(_name: Name, path: string, asked: Asked = {}): Promise<ResponseOf<Name>> {
    const { status, json } = await this.ask(path, asked);
    const { error } = json as { readonly error?: ErrorWire };
    demand(status === 200, `${path} must succeed, got ${status} ${error?.kind}: ${error?.message}`);
    return json as ResponseOf<Name>;
  }

  /** Send a request that must fail in this way. */
  async refused(path: string, asked: Asked, expected: { readonly status: number; readonly kind: string }) {
    const { status, json } = await this.ask(path, asked);
    const { error } = json as { readonly error: ErrorWire };
    demandMatch({ status, kind: error?.kind }, expected, path);
    return error;
  }

  /** Send one element of a batched call, and return its result. */
  async element<Name extends BatchName>(name: Name, element: ElementOf<Name>, waitMs?: number) {
    const [result] = await this.elements(name, [element], waitMs);
    return result!;
  }

  async elements<Name extends BatchName>(name: Name, elements: readonly ElementOf<Name>[], waitMs?: number) {
    const body = waitMs === undefined ? { elements } : { elements, waitMs };
    const { status, json } = await this.ask(OPERATIONS[name].path, { body });
    const { results = [] } = json as { readonly results?: readonly ElementAnswer<Name>[] };
    demandMatch({ status, count: results.length }, { status: 200, count: elements.length }, OPERATIONS[name].path);
    return results;
  }

  /** Send an element that must succeed. */
  async done<Name extends BatchName>(name: Name, element: ElementOf<Name>, waitMs?: number): Promise<ResponseOf<Name>> {
    const { ok, error } = await this.element(name, element, waitMs);
    demand(ok !== undefined, `${name} must succeed, got ${error?.kind}`);
    return ok!;
  }

  /** Send an element that must fail in this way. */
  async failed<Name extends BatchName>(
    name: Name,
    element: ElementOf<Name>,
    expected: { readonly status: number; readonly kind: string; readonly advice?: string },
  ): Promise<ErrorWire> {
    const { error, status } = await this.element(name, element);
    demandMatch({ ...error, status }, expected, name);
    return error!;
  }

  /** Create a run with shards `a` to `z`, cut evenly. It is removed at the end of the case. */
  async makeRun(options: { readonly shards?: number; readonly leaseMs?: number } = {}) {
    const made = this.newRun(options);
    await this.call("createRun", "/v1/runs", { body: made.body });
    return made;
  }

  /** The request for a run, which is removed after the case. */
  newRun({ shards = 1, leaseMs = 60_000 }: { readonly shards?: number; readonly leaseMs?: number } = {}) {
    const run = this.id();
    this.#runs.push(run);
    const bound = (index: number): string => String.fromCharCode(97 + Math.floor((25 * index) / shards));
    const body = {
      tenant: this.tenant,
      run,
      opId: this.id(),
      config: { leaseDuration: String(leaseMs) },
      shards: Array.from({ length: shards }, (_, index) => ({
        shard: (index + 1).toString(16).padStart(16, "0"),
        range: { start: bound(index), end: bound(index + 1) },
      })),
    };
    return { run, body };
  }

  /** Claim a shard of a run. */
  async claim(run: string) {
    const element = { tenant: this.tenant, run, worker: this.id(), opId: this.id() };
    const { sessions } = await this.done("claim", element);
    demandMatch(sessions.length, 1, "a claim without count must return one session");
    return { element, session: sessions[0]!, lease: sessions[0]!.lease };
  }

  /** Remove what a case has created. */
  async clean(): Promise<void> {
    for (const run of this.#runs.splice(0)) {
      const path = `/v1/runs/${run}`;
      await (await this.open(`${path}/cancel`, { body: { tenant: this.tenant, opId: this.id() } })).text();
      await (await this.open(`${path}?tenant=${this.tenant}`, { method: "DELETE" })).text();
    }
  }

  #checkForm(path: string, { method, body, text }: Asked, json: unknown): void {
    const matched = matchPath(path.split("?", 1)[0]!);
    const name = matched?.byMethod.get(method ?? (body === undefined && text === undefined ? "GET" : "POST"));
    demand(name !== undefined, `${path} is no operation of the protocol, and must not succeed`);
    let validator = this.#validators.get(name!);
    if (validator === undefined) {
      const spec: OperationSpec = OPERATIONS[name!];
      validator = makeValidator(spec.shape === "batch" ? batchResponseSchema(name as BatchName) : spec.response);
      this.#validators.set(name!, validator);
    }
    const checked = validator.check(json);
    if (!checked.ok)
      throw new ConformanceFailure(
        `${path}: ${checked.error.field || "the response"} must hold ${checked.error.expected}`,
      );
    const { results = [] } = json as { readonly results?: readonly { readonly error?: unknown }[] };
    for (const { error } of results) if (error !== undefined) this.#checkError(path, error);
  }

  #checkError(path: string, error: unknown): void {
    const checked = this.#errors.check(error);
    if (!checked.ok)
      throw new ConformanceFailure(
        `${path}: an error must have ${checked.error.field || "a kind"} (${checked.error.expected})`,
      );
  }
}

/** The result of one element, with the fields that it may have. */
export interface ElementAnswer<Name extends BatchName> {
  readonly ok?: ResponseOf<Name>;
  readonly error?: ErrorWire;
  readonly status?: number;
}
