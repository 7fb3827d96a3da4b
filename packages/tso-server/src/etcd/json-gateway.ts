import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { Timers } from "../time/system-time.ts";
import type { EtcdError } from "./etcd-error.ts";

/** An object that etcd answered with. Absent fields are zero: its JSON leaves zeros out. */
export type Json = Readonly<Record<string, unknown>>;

export interface GatewayOptions {
  /** `http://host:port` of any number of members. */
  readonly endpoints: readonly string[];
  readonly timers: Timers;
  /** Longest wait for one answer. */
  readonly requestTimeoutMs: number;
}

/** Largest answer that is read. A record of ours is a few hundred bytes. */
const MAX_ANSWER_SIZE = 1 << 20;

/**
 * etcd's API as JSON over HTTP, on connections that are kept.
 *
 * It asks one member at a time and turns to the next when one cannot be reached. It never asks twice by itself: whether a
 * failed request may be repeated is for the caller to say.
 */
export class JsonGateway {
  readonly #urls: readonly URL[];
  readonly #timers: Timers;
  readonly #requestTimeoutMs: number;
  readonly #agents = { "http:": new HttpAgent({ keepAlive: true, noDelay: true }), "https:": new HttpsAgent({ keepAlive: true, noDelay: true }) };
  #current = 0;

  constructor(options: GatewayOptions) {
    assert(options.endpoints.length > 0, "etcd has at least one endpoint");
    this.#urls = options.endpoints.map((endpoint) => parseUrl(endpoint));
    this.#timers = options.timers;
    this.#requestTimeoutMs = options.requestTimeoutMs;
  }

  /** One request, one answer. */
  call(path: string, body: object, timeoutMs: number = this.#requestTimeoutMs): Promise<Result<Json, EtcdError>> {
    const member = this.#current;
    return new Promise((resolve) => {
      const request = this.#request(path);
      const finish = (result: Result<Json, EtcdError>): void => {
        cancelTimer();
        if (!result.ok && result.error.kind === "EtcdUnavailable") this.#turnFrom(member);
        resolve(result);
      };
      const cancelTimer = this.#timers.after(timeoutMs, () => request.destroy(new Error("no answer came in time")));
      request.on("error", (error: NodeJS.ErrnoException) => finish(unavailable(error.code ?? error.message)));
      request.once("response", (response) => void readAnswer(response).then(finish));
      request.end(JSON.stringify(body));
    });
  }

  /**
   * One request, answers until somebody stops: `onAnswer` for each, then `onEnd` once.
   *
   * Returns the function that stops it. There is no time limit: an idle stream says nothing for hours.
   */
  stream(path: string, body: object, onAnswer: (answer: Json) => void, onEnd: (reason: string) => void): () => void {
    const member = this.#current;
    const request = this.#request(path);
    let isOver = false;
    const end = (reason: string): void => {
      if (isOver) return;
      isOver = true;
      request.destroy();
      this.#turnFrom(member);
      onEnd(reason);
    };
    request.on("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    request.once("response", (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        rest += text;
        if (rest.length > MAX_ANSWER_SIZE) return end("an answer is too large");
        const lines = rest.split("\n");
        rest = lines.pop()!;
        for (const line of lines.filter((each) => each !== "")) {
          const answer = parseObject(line);
          if (answer === undefined) return end("an answer is no JSON");
          if (!isOver) onAnswer(answer);
        }
        return undefined;
      });
      response.on("error", () => end("the stream broke"));
      response.once("close", () => end("the stream ended"));
    });
    request.end(JSON.stringify(body));
    return () => {
      isOver = true;
      request.destroy();
    };
  }

  close(): void {
    this.#agents["http:"].destroy();
    this.#agents["https:"].destroy();
  }

  #request(path: string): ClientRequest {
    const url = new URL(path, this.#urls[this.#current]);
    const options = { method: "POST", headers: { "content-type": "application/json" } };
    if (url.protocol === "https:") return httpsRequest(url, { ...options, agent: this.#agents["https:"] });
    return httpRequest(url, { ...options, agent: this.#agents["http:"] });
  }

  /** Leave a member that failed, unless somebody else already has. */
  #turnFrom(member: number): void {
    if (this.#current === member) this.#current = (member + 1) % this.#urls.length;
  }
}

async function readAnswer(response: IncomingMessage): Promise<Result<Json, EtcdError>> {
  let text = "";
  try {
    response.setEncoding("utf8");
    for await (const piece of response) {
      text += piece as string;
      if (text.length > MAX_ANSWER_SIZE) return unavailable("an answer is too large");
    }
  } catch {
    return unavailable("the answer broke off");
  }
  const answer = parseObject(text);
  if (answer === undefined) return unavailable(`an answer of status ${response.statusCode ?? 0} is no JSON`);
  if (response.statusCode === 200) return ok(answer);
  const reason = typeof answer["message"] === "string" ? answer["message"] : "etcd gave no reason";
  const code = typeof answer["code"] === "number" ? answer["code"] : 0;
  // 5xx is etcd's own trouble: no leader, a timeout, too many requests.
  return (response.statusCode ?? 500) >= 500 || response.statusCode === 429 ? unavailable(reason) : err({ kind: "EtcdRefused", code, reason });
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function unavailable(reason: string): Result<never, EtcdError> {
  return err({ kind: "EtcdUnavailable", reason });
}

function parseUrl(endpoint: string): URL {
  assert(typeof endpoint === "string" && URL.canParse(endpoint), "an etcd endpoint is a URL such as http://127.0.0.1:2379");
  const url = new URL(endpoint);
  assert(url.protocol === "http:" || url.protocol === "https:", "an etcd endpoint begins with http:// or https://");
  return url;
}
