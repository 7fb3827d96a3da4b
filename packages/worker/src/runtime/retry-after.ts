import { assert } from "@gossip/stdx";

export type RetryAfterScope = "item" | "run";

export interface RetryAfterOptions extends ErrorOptions {
  /** Default: the item. */
  readonly scope?: RetryAfterScope;
}

/**
 * Throw this from `process` or from a source's `read` to be retried no sooner than in `retryAfterMs`, as a server
 * requests with `Retry-After`. It counts as the failure of a dependency. The longest pause of the retry options
 * (`dependencyRetry.maxMs`, `readRetry.maxMs`) bounds it.
 *
 * With `scope: "run"` the limit is the service's, not the item's: no worker of the run starts an item in that time.
 *
 * The runtime checks the fields, not the class, so other errors and other copies of this package can carry them too.
 */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";
  readonly retryAfterMs: number;
  /** What has to wait: the item, or the whole run. */
  readonly retryAfterScope: RetryAfterScope;

  constructor(retryAfterMs: number, message = "to be tried again later", options?: RetryAfterOptions) {
    assert(
      isWait(retryAfterMs),
      () =>
        `retryAfterMs must be a finite number from 0, got ${typeof retryAfterMs === "number" ? retryAfterMs : typeof retryAfterMs}`,
    );
    const { scope = "item", ...rest } = options ?? {};
    assert(scope === "item" || scope === "run", "scope of a RetryAfter must be item or run");
    super(message, rest);
    this.retryAfterMs = retryAfterMs;
    this.retryAfterScope = scope;
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

/** Whether a thrown value requests that the whole run waits. */
export function isRetryAfterForRun(thrown: unknown): boolean {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    (thrown as { readonly retryAfterScope?: unknown }).retryAfterScope === "run"
  );
}

function isWait(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
