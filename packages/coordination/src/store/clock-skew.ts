import type { InfraError } from "@gossip/coordination-errors";
import { assert, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { CoordinationStore } from "./coordination-store.ts";

/** How far a clock is ahead of that of a store's server. */
export interface ClockSkew {
  /** Negative: it is behind. */
  readonly skewMs: number;
  /** The true skew is at most this far from `skewMs`. */
  readonly uncertaintyMs: number;
}

export interface ClockSkewOptions {
  /** The clock to compare, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

const MOST_READINGS = 5;
/** Precise enough to compare with a lease, which is at least a second. */
const PRECISE_MS = 50;

/**
 * Compares a clock with that of a store's server, in up to five readings. Returns `undefined` if the store has no server
 * with a clock.
 *
 * Each reading bounds the skew: the server read its clock after the request was sent and before the answer came. The
 * true skew lies within the bounds of all readings, unless a clock was set in between; then the last reading counts.
 */
export function measureClockSkew(
  store: Pick<CoordinationStore, "readServerTime">,
  options: ClockSkewOptions,
): Promise<Result<ClockSkew | undefined, InfraError>> {
  assertObject(store, "store");
  assertObject(options, "options");
  const { nowMs } = options;
  assert(typeof nowMs === "function", "nowMs must be a function");
  return measure(store, nowMs);
}

async function measure(
  store: Pick<CoordinationStore, "readServerTime">,
  nowMs: () => number,
): Promise<Result<ClockSkew | undefined, InfraError>> {
  let [low, high] = [-Infinity, Infinity];
  for (let reading = 0; reading < MOST_READINGS && high - low > 2 * PRECISE_MS; reading++) {
    const before = nowMs();
    const server = await store.readServerTime?.();
    const after = nowMs();
    if (server?.ok === false) return server;
    if (server?.value === undefined) return ok(undefined);
    const { atMs, precisionMs } = server.value;
    const [lowest, highest] = [before - (atMs + precisionMs), after - atMs];
    const isConsistent = Math.max(low, lowest) <= Math.min(high, highest);
    low = isConsistent ? Math.max(low, lowest) : lowest;
    high = isConsistent ? Math.min(high, highest) : highest;
  }
  return ok({ skewMs: (low + high) / 2, uncertaintyMs: (high - low) / 2 });
}
