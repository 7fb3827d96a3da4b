import { measureClockSkew, type ClockSkew } from "@gossip/coordination/internal";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { formatDuration } from "../output/number-words.ts";
import type { OpenedStore } from "./opened-store.ts";

/** Warn if the clocks differ by more than this share of the lease. */
const WARN_SHARE = 0.25;
const EVERY_MS = 60_000;

export interface SkewBounds {
  readonly leaseMs: number;
  /** Whether the time comes from a timestamp oracle: the clock of this machine does not matter then. */
  readonly hasOracle: boolean;
}

/** Measure how far this machine's clock is from that of the store's server. `undefined` if it does not matter. */
export async function measureSkew({ direct }: OpenedStore): Promise<ClockSkew | undefined> {
  // Behind a service, only the service's clock counts.
  if (direct === undefined) return undefined;
  const measured = await measureClockSkew(direct.store, { nowMs: Date.now });
  // The next call that needs the server reports that it does not respond.
  return measured.ok ? measured.value : undefined;
}

/**
 * Judge a skew: a warning if it is more than a quarter of the lease, an error if it is more than the lease. Only what is
 * certain counts.
 */
export function judgeSkew(
  skew: ClockSkew | undefined,
  { leaseMs, hasOracle }: SkewBounds,
): Result<string | undefined, CliError> {
  if (skew === undefined || hasOracle) return ok(undefined);
  const certainMs = Math.abs(skew.skewMs) - skew.uncertaintyMs;
  if (certainMs <= WARN_SHARE * leaseMs) return ok(undefined);
  const fact = `${skewText(skew)}, and the lease is ${formatDuration(leaseMs)}`;
  if (certainMs > leaseMs)
    return fail(
      "ClockSkewed",
      `${fact}: set this clock by NTP, or give all machines one time with --tso; otherwise workers would take shards from each other.`,
    );
  return ok(`${fact}: set this clock by NTP, or give all machines one time with --tso`);
}

export function skewText({ skewMs }: ClockSkew): string {
  return `this machine's clock is ${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? "ahead of" : "behind"} that of the store's server`;
}

export interface SkewWatchOptions extends SkewBounds {
  readonly measure: () => Promise<ClockSkew | undefined>;
  /** Called when the skew becomes larger than a quarter of the lease. */
  readonly onWarning: (text: string) => void;
  /** Called once, when it becomes larger than the lease. */
  readonly onError: (error: CliError) => void;
}

/** Measure the skew every minute. Returns a function that stops it. */
export function watchSkew({ measure, onWarning, onError, ...bounds }: SkewWatchOptions): () => void {
  if (bounds.hasOracle) return () => {};
  let [isWarned, isOver] = [false, false];
  const timer = setInterval(() => {
    void measure().then((skew) => {
      if (isOver) return;
      const judged = judgeSkew(skew, bounds);
      if (!judged.ok) {
        isOver = true;
        onError(judged.error);
      } else if (judged.value !== undefined && !isWarned) onWarning(judged.value);
      isWarned = judged.ok && judged.value !== undefined;
    });
  }, EVERY_MS);
  timer.unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
