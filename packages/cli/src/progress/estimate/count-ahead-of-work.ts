import type { Source, WorkEstimate } from "@gossip/worker";

/** The clock of a count, passed in so that tests need not wait. */
export interface CountTime {
  nowMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface CountOptions {
  readonly source: Pick<Source, "estimate">;
  readonly time: CountTime;
  readonly signal: AbortSignal;
  readonly onEstimate: (estimate: WorkEstimate) => void;
}

/** A count may take this long at the start: enough for some hundred thousand files. */
const FREE_MS = 2000;
/** After that, this share of the time. */
const MAX_SHARE = 0.1;
/** Until then, this share, because the work goes on too. */
const FREE_SHARE = 0.5;
/** A step that took longer has waited for the work, which uses the same event loop. */
const MOST_MS_PER_STEP = 25;

/**
 * Ask a source for its estimate while the work goes on, step by step, without taking more than a small share of the
 * time. Resolves when the estimate is complete, the source fails, or the signal fires, to whether it is complete. Never
 * rejects: an estimate is advice.
 */
export async function countAheadOfWork({ source, time, signal, onEstimate }: CountOptions): Promise<boolean> {
  if (source.estimate === undefined) return false;
  let spentMs = 0;
  let beganMs = time.nowMs();
  try {
    for await (const estimate of source.estimate({ signal })) {
      const tookMs = Math.min(MOST_MS_PER_STEP, time.nowMs() - beganMs);
      spentMs += tookMs;
      onEstimate(estimate);
      if (signal.aborted) return false;
      const share = spentMs < FREE_MS ? FREE_SHARE : MAX_SHARE;
      await time.sleep((tookMs * (1 - share)) / share, signal);
      beganMs = time.nowMs();
    }
    return true;
  } catch {
    // The work itself will meet the same error, and reports it.
    return false;
  }
}
