import { assert } from "@gossip/stdx";

/**
 * Throw this from `process` or from a source's `read` to be retried no sooner than in `retryAfterMs`, as a server
 * requests with `Retry-After`. It counts as the failure of a dependency. The longest pause of the retry options
 * (`dependencyRetry.maxMs`, `readRetry.maxMs`) bounds it.
 *
 * The runtime checks the field, not the class, so other errors and other copies of this package can carry it too.
 */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number, message = "to be tried again later", options?: ErrorOptions) {
    assert(
      isWait(retryAfterMs),
      () =>
        `retryAfterMs must be a finite number from 0, got ${typeof retryAfterMs === "number" ? retryAfterMs : typeof retryAfterMs}`,
    );
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The delay that a thrown value requests, or 0 if it has none or an invalid one. */
export function retryAfterOf(thrown: unknown): number {
  const retryAfterMs =
    typeof thrown === "object" && thrown !== null
      ? (thrown as { readonly retryAfterMs?: unknown }).retryAfterMs
      : undefined;
  return isWait(retryAfterMs) ? retryAfterMs : 0;
}

function isWait(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
