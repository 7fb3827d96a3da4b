import { performance } from "node:perf_hooks";
import type { RunRequest } from "@gossip/coordination";
import type { WorkerProgress } from "@gossip/worker";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { readOverview, type RunOverview } from "../run/inspect/run-overview.ts";
import { RateMeter } from "./rate-meter.ts";
import type { ProgressView, RunProgressShown } from "./run-progress.ts";

export interface WatchOptions {
  readonly opened: OpenedStore;
  readonly request: RunRequest;
  readonly view: ProgressView;
  readonly itemsBefore: number;
  /** The progress of this process. `undefined` before it started. */
  readonly own: () => WorkerProgress | undefined;
  readonly isStopping: () => boolean;
}

/**
 * The share of time that reading the overview may take, so that a store with very many shards is not read all the time.
 */
const MAX_SHARE = 0.1;

export interface RunWatch {
  /** Stop watching. */
  end(): Promise<void>;
  /** Show the final state, if the view shows states. */
  showEnd(overview: RunOverview): void;
}

/** Reads the overview of a run periodically and shows it. */
export function watchRun({ opened, request, view, itemsBefore, own, isStopping }: WatchOptions): RunWatch {
  const startMs = performance.now();
  const meter = new RateMeter();
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;

  const shown = (overview: RunOverview, now: bigint): RunProgressShown => {
    const progress = own();
    const held = progress?.held ?? 0;
    const { earliestDeadline } = overview;
    const isWaiting =
      progress !== undefined && held === 0 && overview.states.leased > 0 && overview.states.waiting === 0;
    return {
      overview,
      elapsedMs: performance.now() - startMs,
      itemsBefore,
      perSecond: meter.perSecond,
      remainingMs: meter.remainingMs,
      held,
      waitMs: isWaiting && earliestDeadline !== undefined ? Number(earliestDeadline - now) : undefined,
      isStopping: isStopping(),
    };
  };

  const look = async (): Promise<void> => {
    const beganMs = performance.now();
    try {
      const overview = await readOverview(opened, request);
      const now = await opened.clock.now();
      if (overview.ok && !isEnded) {
        meter.add({ atMs: beganMs, items: overview.value.totals.items, fraction: overview.value.fraction });
        view.show(shown(overview.value, now));
      }
    } catch {
      // The work handles an unreadable store or clock: it retries, and reports the failure in the end.
    }
    const tookMs = performance.now() - beganMs;
    if (!isEnded) timer = setTimeout(() => void (under = look()), Math.max(view.everyMs - tookMs, tookMs / MAX_SHARE));
  };

  let under: Promise<void> = Promise.resolve();
  timer = setTimeout(() => void (under = look()), Math.min(view.everyMs, 1000));
  return {
    async end() {
      isEnded = true;
      clearTimeout(timer);
      await under;
    },
    showEnd(overview) {
      meter.add({ atMs: performance.now(), items: overview.totals.items, fraction: overview.fraction });
      view.showEnd(shown(overview, 0n));
    },
  };
}
