import type { Credentials } from "../client/sign.ts";

/** Where credentials come from. */
export interface CredentialSource {
  /** Valid credentials; `undefined` to send requests without a signature, as for public buckets. */
  get(signal: AbortSignal): Promise<Credentials | undefined>;
}

/** Credentials that may end. */
export interface TemporaryCredentials extends Credentials {
  readonly expiresAt?: Date | undefined;
}

/** Returns credentials, or `undefined` if this place has none. Throws if it should have some and cannot be read. */
export type CredentialLookup = (signal: AbortSignal) => Promise<TemporaryCredentials | undefined>;

/** Renewed this long before they end: a request that is on its way must still be accepted. */
const RENEW_BEFORE_MS = 5 * 60_000;

/** Asks the lookups in order, keeps what the first of them returns, and asks again shortly before it ends. */
export class CredentialChain implements CredentialSource {
  readonly #lookups: readonly CredentialLookup[];
  readonly #now: () => Date;
  #current: TemporaryCredentials | undefined;
  #pending: Promise<TemporaryCredentials | undefined> | undefined;

  constructor(lookups: readonly CredentialLookup[], now: () => Date) {
    this.#lookups = lookups;
    this.#now = now;
  }

  async get(signal: AbortSignal): Promise<Credentials | undefined> {
    if (this.#current !== undefined && !this.#endsSoon(this.#current)) return this.#current;
    this.#pending ??= this.#lookUp(signal).finally(() => void (this.#pending = undefined));
    this.#current = await this.#pending;
    return this.#current;
  }

  async #lookUp(signal: AbortSignal): Promise<TemporaryCredentials | undefined> {
    for (const lookup of this.#lookups) {
      const found = await lookup(signal);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #endsSoon({ expiresAt }: TemporaryCredentials): boolean {
    return expiresAt !== undefined && expiresAt.getTime() - this.#now().getTime() < RENEW_BEFORE_MS;
  }
}
