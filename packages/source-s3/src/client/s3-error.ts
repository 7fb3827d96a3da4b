/** A response of the server, or of the network, that is not what was asked for. Never holds what the server wrote. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  /** The error code of S3 (`NoSuchBucket`), or of the system (`ECONNREFUSED`). */
  readonly code: string;
  readonly status: number | undefined;
  /** The region that the server named as the right one. */
  readonly region: string | undefined;

  constructor(
    code: string,
    options: { status?: number | undefined; region?: string | undefined; cause?: unknown } = {},
  ) {
    super(`the object store answered ${code}`, { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.region = options.region;
  }

  /** Whether the same request may succeed a little later. */
  get isTransient(): boolean {
    if (this.status === undefined) return TRANSIENT.has(this.code);
    return this.status >= 500 || this.status === 429 || this.status === 408 || TRANSIENT.has(this.code);
  }
}

const TRANSIENT = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "SlowDown",
  "RequestTimeout",
  "RequestTimeTooSkewed",
  "InternalError",
  "ServiceUnavailable",
  "IncompleteResponse",
  "CredentialsEnded",
]);
