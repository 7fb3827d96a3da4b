import { err, ok, type Result } from "@gossip/stdx";
import { EtcdCode, type EtcdError } from "./etcd-error.ts";
import type { Credentials } from "./etcd-options.ts";
import type { Json } from "./json-answer.ts";

/**
 * Caches the login token for as long as etcd accepts it.
 *
 * A request that finds it rejected drops it, and the next request logs in again. Concurrent requests share one login.
 */
export class Login {
  readonly #credentials: Credentials;
  readonly #ask: (body: object) => Promise<Result<Json, EtcdError>>;
  #token: string | undefined;
  #pending: Promise<Result<string, EtcdError>> | undefined;

  constructor(credentials: Credentials, ask: (body: object) => Promise<Result<Json, EtcdError>>) {
    this.#credentials = credentials;
    this.#ask = ask;
  }

  /** Returns the token, without waiting if there is one. */
  token(): Promise<Result<string, EtcdError>> | Result<string, EtcdError> {
    if (this.#token !== undefined) return ok(this.#token);
    this.#pending ??= this.#logIn().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Drops a rejected token, unless a newer one has replaced it. */
  forget(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #logIn(): Promise<Result<string, EtcdError>> {
    const { username, password } = this.#credentials;
    const answer = await this.#ask({ name: username, password });
    // A login changes nothing, so whatever was to follow it was not done either.
    if (!answer.ok)
      return err(answer.error.kind === "EtcdUnavailable" ? { ...answer.error, mayBeDone: false } : answer.error);
    const token = answer.value["token"];
    if (typeof token !== "string" || token === "")
      return err({ kind: "EtcdRefused", code: EtcdCode.Unauthenticated, reason: "a login gave no token" });
    this.#token = token;
    return ok(token);
  }
}

/** Whether a refusal means that the token has lapsed, or was made before users or roles were changed. */
export function isTokenRefused(error: EtcdError): boolean {
  if (error.kind !== "EtcdRefused") return false;
  return (
    error.code === EtcdCode.Unauthenticated ||
    /revision in header is old|user name is empty|invalid auth token/u.test(error.reason)
  );
}
