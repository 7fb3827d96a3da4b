import type { FailureClass, RetryAfterScope } from "@gossip/worker";
import type { WorkerError } from "./worker-line.ts";

/** Thrown to the runtime when a process reports that an item failed, or ends while it works on it. */
export class PipeFailed extends Error {
  override readonly name = "PipeFailed";
  readonly failureClass: FailureClass;
  readonly retryAfterMs: number | undefined;
  readonly retryAfterScope: RetryAfterScope;
  readonly parkReason = "TooManyErrors";

  constructor(message: string, { failureClass, retryAfterMs, retryAfterScope = "item" }: Partial<WorkerError> = {}) {
    super(message);
    this.failureClass = failureClass ?? (retryAfterMs === undefined ? "Item" : "Dependency");
    this.retryAfterMs = retryAfterMs;
    this.retryAfterScope = retryAfterScope;
  }
}
