import { setTimeout as sleep } from "node:timers/promises";
import { S3Error } from "./s3-error.ts";

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface RetryTools {
  readonly random: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realRetryTools: RetryTools = {
  random: Math.random,
  pause: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Calls `attempt` until it succeeds, fails for good, or has failed six times in a row. The pauses double and are drawn
 * at random up to their limit, so that many workers do not come back at the same moment.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { random, pause }: RetryTools = realRetryTools,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof S3Error) || !thrown.isTransient || failures === ATTEMPTS) throw thrown;
      await pause(random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
    }
  }
}
