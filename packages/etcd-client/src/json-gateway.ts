import type { Result } from "@gossip/stdx";
import type { EtcdError } from "./etcd-error.ts";
import { checkOptions, type CheckedOptions, type EtcdOptions } from "./etcd-options.ts";
import { Exchange, type ExchangeRequest } from "./exchange.ts";
import { readAnswer, unavailable, type Json } from "./json-answer.ts";
import { readLines } from "./json-lines.ts";
import { isTokenRefused, Login } from "./login.ts";
import { Overdue } from "./overdue.ts";

/** Whether a failed request may be retried. A `Read` changes nothing, so it can be sent to the next member. */
export type CallKind = "Read" | "Write";

export interface CallOptions {
  readonly kind: CallKind;
  /** Default: the client's own. */
  readonly timeoutMs?: number | undefined;
  /** Called with the `Date` header of the response, if a complete response comes. */
  readonly onDate?: ((date: string | undefined) => void) | undefined;
}

interface Attempt {
  readonly kind: CallKind;
  readonly overdue: Overdue;
  readonly token?: string | undefined;
  readonly onDate?: CallOptions["onDate"];
}

/** A read is asked at least this often: a kept connection may turn out to be dead. */
const LEAST_READ_TRIES = 2;

/**
 * etcd's API as JSON over HTTP, on connections that are kept.
 *
 * It uses one member at a time and switches to the next if one cannot be reached. A write is repeated only if it was
 * certainly not carried out. The caller decides about a write with an unknown outcome.
 */
export class JsonGateway {
  readonly #options: CheckedOptions;
  readonly #exchange: Exchange;
  readonly #login: Login | undefined;
  #current = 0;

  constructor(options: EtcdOptions) {
    this.#options = checkOptions(options);
    this.#exchange = new Exchange(this.#options);
    const { credentials } = this.#options;
    this.#login = credentials && new Login(credentials, (body) => this.#authenticate(body));
  }

  /** Sends one request and returns one response. */
  call(
    path: string,
    body: object,
    { kind, timeoutMs = this.#options.requestTimeoutMs, onDate }: CallOptions,
  ): Promise<Result<Json, EtcdError>> {
    const text = JSON.stringify(body);
    // Keys and values are base64, so that a character is a byte.
    if (text.length > this.#options.maxMessageSize)
      return Promise.resolve(unavailable("a request is too large", { mayBeDone: false }));
    return this.#within(timeoutMs, async (overdue) => {
      const first = await this.#callAs(path, text, { kind, overdue, onDate });
      if (first.ok || this.#login === undefined || !isTokenRefused(first.error)) return first;
      // A request with an invalid token is rejected before anything is done. The next call logs in again.
      return this.#callAs(path, text, { kind, overdue, onDate });
    });
  }

  /**
   * Sends one request and reads responses until it is stopped: calls `onAnswer` for each, then `onEnd` once.
   *
   * Returns the function that stops it. There is no time limit: a stream can be idle for hours.
   */
  stream(path: string, body: object, onAnswer: (answer: Json) => void, onEnd: (reason: string) => void): () => void {
    const stopping = new AbortController();
    void this.#stream(path, body, onAnswer, stopping.signal).then((reason) => {
      if (!stopping.signal.aborted) onEnd(reason);
    });
    return () => stopping.abort();
  }

  close(): void {
    this.#exchange.close();
  }

  async #stream(path: string, body: object, onAnswer: (answer: Json) => void, signal: AbortSignal): Promise<string> {
    const token = await this.#login?.token();
    if (token?.ok === false) return token.error.reason;
    if (signal.aborted) return "it was stopped";
    const member = this.#current;
    const request = this.#exchange.open(this.#requestTo(member, path, JSON.stringify(body), token?.value));
    const reason = await readLines(request, { onAnswer, signal, maxSize: this.#options.maxMessageSize });
    if (token !== undefined && isTokenRefused({ kind: "EtcdRefused", code: 0, reason }))
      this.#login?.forget(token.value);
    if (!signal.aborted) this.#turnFrom(member);
    return reason;
  }

  async #callAs(path: string, text: string, how: Attempt): Promise<Result<Json, EtcdError>> {
    const token = this.#login && (await within(how.overdue, this.#login.token()));
    if (token?.ok === false) return token;
    const answer = await this.#tryMembers(path, text, { ...how, token: token?.value });
    if (token !== undefined && !answer.ok && isTokenRefused(answer.error)) this.#login?.forget(token.value);
    return answer;
  }

  #authenticate(body: object): Promise<Result<Json, EtcdError>> {
    const { requestTimeoutMs } = this.#options;
    return this.#within(requestTimeoutMs, (overdue) =>
      this.#tryMembers("/v3/auth/authenticate", JSON.stringify(body), { kind: "Read", overdue }),
    );
  }

  async #tryMembers(path: string, text: string, attempt: Attempt): Promise<Result<Json, EtcdError>> {
    const { kind, overdue, token } = attempt;
    const mostTries = Math.max(kind === "Read" ? LEAST_READ_TRIES : 1, this.#options.urls.length);
    for (let tries = 1; ; tries++) {
      const member = this.#current;
      const answer = await this.#ask(this.#requestTo(member, path, text, token), attempt);
      if (answer.ok || answer.error.kind !== "EtcdUnavailable") return answer;
      this.#turnFrom(member);
      const mayTryAgain = kind === "Read" || !answer.error.mayBeDone;
      if (!mayTryAgain || tries >= mostTries || overdue.isUp) return answer;
    }
  }

  async #ask(request: ExchangeRequest, { overdue, onDate }: Attempt): Promise<Result<Json, EtcdError>> {
    const exchanged = await this.#exchange.send(request, overdue);
    if (exchanged.kind === "Answered") {
      onDate?.(exchanged.date);
      return readAnswer(exchanged);
    }
    return unavailable(exchanged.reason, { mayBeDone: exchanged.kind === "Broken" });
  }

  async #within<T>(timeoutMs: number, work: (overdue: Overdue) => Promise<T>): Promise<T> {
    const overdue = new Overdue(this.#options.timers, timeoutMs);
    try {
      return await work(overdue);
    } finally {
      overdue.cancel();
    }
  }

  #requestTo(member: number, path: string, body: string, token: string | undefined): ExchangeRequest {
    return { url: this.#options.urls[member]!, path, body, token };
  }

  /** Switches away from a failed member, unless another request already has. */
  #turnFrom(member: number): void {
    if (this.#current === member) this.#current = (member + 1) % this.#options.urls.length;
  }
}

/** Waits for a login, which other requests may share, until this request's deadline. */
async function within(
  overdue: Overdue,
  login: Promise<Result<string, EtcdError>> | Result<string, EtcdError>,
): Promise<Result<string, EtcdError>> {
  if (!("then" in login)) return login;
  let leave = (): void => {};
  const late = new Promise<Result<string, EtcdError>>((resolve) => {
    leave = overdue.whenUp(() => resolve(unavailable("no answer came in time", { mayBeDone: false })));
  });
  try {
    return await Promise.race([login, late]);
  } finally {
    leave();
  }
}
