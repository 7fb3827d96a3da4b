import { performance } from "node:perf_hooks";
import type { RunRequest } from "@gossip/coordination";
import type { WorkerProgress } from "@gossip/worker";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { readOverview, type RunOverview } from "../run/run-overview.ts";
import { RateMeter } from "./rate-meter.ts";
import type { ProgressView } from "./run-progress.ts";

export interface WatchOptions {
  readonly opened: OpenedStore;
  readonly request: RunRequest;
  readonly view: ProgressView;
  readonly itemsBefore: number;
  /** How this process stands; `undefined` before it began. */
  readonly own: () => WorkerProgress | undefined;
  readonly isStopping: () => boolean;
}

/** A look may take this share of the time, so that a store with very many shards is not read all day. */
const MAX_SHARE = 0.1;

/** Reads how a run stands now and then, and shows it. Ends when the answer is called. */
export function watchRun({ opened, request, view, itemsBefore, own, isStopping }: WatchOptions): () => Promise<void> {
  const startMs = performance.now();
  const meter = new RateMeter();
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;

  const show = (overview: RunOverview, now: bigint): void => {
    const progress = own();
    const held = progress?.held ?? 0;
    const { earliestDeadline } = overview;
    const isWaiting = progress !== undefined && held === 0 && overview.states.leased > 0 && overview.states.waiting === 0;
    view.show({
      overview,
      elapsedMs: performance.now() - startMs,
      itemsBefore,
      perSecond: meter.perSecond,
      remainingMs: meter.remainingMs,
      held,
      waitMs: isWaiting && earliestDeadline !== undefined ? Number(earliestDeadline - now) : undefined,
      isStopping: isStopping(),
    });
  };

  const look = async (): Promise<void> => {
    const beganMs = performance.now();
    try {
      const overview = await readOverview(opened, request);
      const now = await opened.clock.now();
      if (overview.ok && !isEnded) {
        meter.add({ atMs: beganMs, items: overview.value.totals.items, fraction: overview.value.fraction });
        show(overview.value, now);
      }
    } catch {
      // A store or a clock that cannot be read is the work's business: it tries again, and says so in the end.
    }
    const tookMs = performance.now() - beganMs;
    if (!isEnded) timer = setTimeout(() => void (under = look()), Math.max(view.everyMs - tookMs, tookMs / MAX_SHARE));
  };

  let under: Promise<void> = Promise.resolve();
  timer = setTimeout(() => void (under = look()), Math.min(view.everyMs, 1000));
  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await under;
  };
}
