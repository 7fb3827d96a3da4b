import { S3Error } from "../client/s3-error.ts";
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

/** How long one look at all places may take. */
const TIMEOUT_MS = 30_000;

/**
 * Asks the lookups in order, keeps what the first of them returns, and asks again shortly before it ends. If that fails,
 * what is there is used until it ends.
 */
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
    if (this.#current !== undefined && this.#leftMs(this.#current) >= RENEW_BEFORE_MS) return this.#current;
    // All callers wait for the same look, so none of their signals ends it.
    this.#pending ??= this.#renew().finally(() => void (this.#pending = undefined));
    return untilAborted(this.#pending, signal);
  }

  async #renew(): Promise<TemporaryCredentials | undefined> {
    const before = this.#current;
    try {
      const found = await this.#lookUp(AbortSignal.timeout(TIMEOUT_MS));
      if (found === undefined && before !== undefined) throw new S3Error("CredentialsEnded");
      this.#current = found;
    } catch (thrown) {
      if (before === undefined || this.#leftMs(before) <= 0) throw thrown;
    }
    return this.#current;
  }

  async #lookUp(signal: AbortSignal): Promise<TemporaryCredentials | undefined> {
    for (const lookup of this.#lookups) {
      const found = await lookup(signal);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #leftMs({ expiresAt }: TemporaryCredentials): number {
    return expiresAt === undefined ? Infinity : expiresAt.getTime() - this.#now().getTime();
  }
}

/** Rejects with the reason of the signal if it fires first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
