import { assert } from "@gossip/stdx";
import type { WorkerTime } from "../time/worker-time.ts";
import type { ItemContext } from "./item-context.ts";
import { ItemTimedOut } from "./item-timed-out.ts";

/** How long a call may continue after its signal has fired, before it counts as failed. */
const MAX_GRACE_MS = 1000;

/**
 * One call of `process` with a time limit.
 *
 * When the limit is reached, the call's own signal fires. A short grace period later the call counts as failed, even if
 * the function ignores its signal and continues to run. The signal also fires with the signal of the shard. It is
 * created only if the function asks for it, because most functions do not.
 */
export class TimedCall {
  readonly context: ItemContext;
  readonly #time: WorkerTime;
  readonly #timeoutMs: number;
  #controller: AbortController | undefined;
  #timedOut: ItemTimedOut | undefined;
  #cancel: (() => void) | undefined;
  #unfollow: (() => void) | undefined;

  constructor(context: ItemContext, time: WorkerTime, timeoutMs: number) {
    this.#time = time;
    this.#timeoutMs = timeoutMs;
    const own = (): AbortSignal => this.#signal(context.signal);
    this.context = {
      ...context,
      get signal() {
        return own();
      },
    };
  }

  /** Why the call failed: the time limit if it was reached, otherwise what was thrown. */
  failure(cause: unknown): unknown {
    if (this.#timedOut === undefined || cause === this.#timedOut) return cause;
    return new ItemTimedOut(this.#timeoutMs, { cause });
  }

  /** Whether the limit was reached. A result returned after that does not count. */
  get timedOut(): ItemTimedOut | undefined {
    return this.#timedOut;
  }

  /** Start the clock. `onOverdue` is called when the call must count as failed. */
  start(onOverdue: (reason: ItemTimedOut) => void): void {
    assert(this.#cancel === undefined, "a call has one time limit");
    this.#cancel = this.#time.startTimer(this.#timeoutMs, () => {
      const timedOut = new ItemTimedOut(this.#timeoutMs);
      this.#timedOut = timedOut;
      this.#controller?.abort(timedOut);
      this.#cancel = this.#time.startTimer(Math.min(MAX_GRACE_MS, this.#timeoutMs), () => onOverdue(timedOut));
    });
  }

  /** The call is over. */
  end(): void {
    this.#cancel?.();
    this.#unfollow?.();
  }

  #signal(shardSignal: AbortSignal): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const follow = (): void => controller.abort(shardSignal.reason);
    if (shardSignal.aborted) follow();
    else if (this.#timedOut !== undefined) controller.abort(this.#timedOut);
    else {
      shardSignal.addEventListener("abort", follow, { once: true });
      this.#unfollow = () => shardSignal.removeEventListener("abort", follow);
    }
    return controller.signal;
  }
}
