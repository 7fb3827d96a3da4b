import { assert } from "@gossip/stdx";

/**
 * Throw it from `process`, or from a source's `read`, to be tried again no sooner than in `retryAfterMs`: what a server asks for with
 * `Retry-After`. It counts as an attempt like any other failure, and the longest pause of the retry policy (`retry.maxMs`,
 * `readRetry.maxMs`) bounds it.
 *
 * The runtime goes by the field, so that an error of another kind, or of another copy of this package, may have it as well.
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

/** How long what was thrown wants to be left alone; 0 where it says nothing that makes sense. */
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
