import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import type { GetOperation } from "@gossip/etcd-client";
import { bucketOf, freeFrom, heldUpTo, LAST_BUCKET, MIX_LIMIT } from "../layout/shard-indexes.ts";
import type { Layout, Space } from "../layout/layout.ts";

/** A capacity hint counts up to this number. */
export const MAX_HINT_COUNT: number = MAX_CLAIM_COUNT;

/** A window over free shards that holds more than this is narrowed to about half of it, still twice what a hint counts. */
const CROWDED: number = 4 * MAX_HINT_COUNT;
/**
 * With this many free shards in the windows, the next look leaves out the leases. Somewhat more than a hint counts, so
 * that a few claims do not make the next look read them after all.
 */
const AMPLE: number = MAX_HINT_COUNT + 32;
/**
 * A window over leases that holds more than this is cut after the bucket of the first valid lease. etcd reads leases to
 * sort them, which takes longer than counting.
 */
const CROWDED_HELD = 256;
/** Maximum number of spaces whose windows are cached. */
const MAX_KNOWN = 1024;
/** A window that held too few is widened sixteen times. */
const WIDEN_BITS = 4;
/** Out of 32. A window always covers at least a handful of mixes. */
const NARROWEST = 28;

/** Which part of a run's claim indexes to read. */
export interface Windows {
  /** A window over the free shards is one in `2^begun`, or `2^fresh`, of all mixes. */
  readonly begun: number;
  readonly fresh: number;
  /** The number of buckets to read from now on; all leases if undefined. */
  readonly heldSpan: bigint | undefined;
  /** The number of leases to request, earliest deadline first. One is enough if none has expired, as is usual. */
  readonly heldLimit: number;
  /** The windows held so many free shards that the leases tell a claim nothing. */
  readonly isAmple: boolean;
}

const WHOLE: Windows = { begun: 0, fresh: 0, heldSpan: undefined, heldLimit: 1, isAmple: false };

/**
 * Learns how much of each run's claim indexes to read.
 *
 * etcd counts a whole range whatever the limit, so asking for the first eight of a million keys costs as much as
 * counting them. But a claim needs a few shards from anywhere, and a hint counts to `MAX_HINT_COUNT`. So each reads a
 * window, whose width is adjusted to hold some hundreds of entries. A window that turns out to hold too few is widened
 * and read again, so the result never depends on the width.
 *
 * Reading a lease costs etcd seven times as much as counting a free shard, and all leases of a bucket are read for the
 * earliest. So they are left out while there are more free shards than a claim takes: no caller waits for a lease then.
 */
export class KnownWindows {
  readonly #known = new Map<Space, Windows>();

  of(space: Space): Windows {
    return this.#known.get(space) ?? WHOLE;
  }

  /** Sets the windows to use next. */
  learn(space: Space, windows: Windows): void {
    if (this.#known.size >= MAX_KNOWN && !this.#known.has(space)) this.#known.clear();
    this.#known.set(space, windows);
  }
}

/** Whether the windows cover all free shards. */
export function isWholeFree({ begun, fresh }: Windows): boolean {
  return begun === 0 && fresh === 0;
}

/** Narrows the windows over free shards that are crowded. */
export function narrowFree(
  windows: Windows,
  { begun, fresh }: { readonly begun: number; readonly fresh: number },
): Windows {
  return {
    ...windows,
    begun: narrowed(windows.begun, begun),
    fresh: narrowed(windows.fresh, fresh),
    isAmple: begun + fresh >= AMPLE,
  };
}

export function widenFree(windows: Windows): Windows {
  const widened = (narrowness: number): number => Math.max(0, narrowness - WIDEN_BITS);
  return { ...windows, begun: widened(windows.begun), fresh: widened(windows.fresh), isAmple: false };
}

/** Windows that include the leases. */
export function withHeld(windows: Windows): Windows {
  return windows.isAmple ? { ...windows, isAmple: false } : windows;
}

/**
 * Fits the window over leases to the last result: how many it held, how many had expired, and how far off the first
 * valid one was.
 */
export function fitHeld(
  windows: Windows,
  { count, lapsed, distance }: { readonly count: number; readonly lapsed: number; readonly distance: bigint },
): Windows {
  const heldLimit = lapsed === 0 ? 1 : Math.min(2 * lapsed + 8, MAX_HINT_COUNT);
  return { ...windows, heldLimit, heldSpan: count > CROWDED_HELD ? distance : windows.heldSpan };
}

export function widenHeld(windows: Windows): Windows {
  const { heldSpan } = windows;
  return {
    ...windows,
    heldSpan: heldSpan === undefined || heldSpan > LAST_BUCKET >> 4n ? undefined : (heldSpan + 1n) << 4n,
  };
}

/** Requests more leases, because all that were returned had expired. */
export function raiseHeldLimit(windows: Windows, used: number): Windows {
  return { ...windows, heldLimit: used << WIDEN_BITS };
}

/** A window over free shards, and what to read in it. */
interface FreeWindow extends Pick<GetOperation, "limit" | "keysOnly" | "countOnly"> {
  readonly isBegun: boolean;
  readonly mix: number;
  readonly narrowness: number;
}

/** The gets for a window over free shards that begins at `mix` and wraps around: one or two. */
export function freeWindow(
  layout: Layout,
  space: Space,
  { isBegun, mix, narrowness, ...get }: FreeWindow,
): GetOperation[] {
  const from = (at: number): string => freeFrom(layout, space, { isBegun, mix: at });
  const end = mix + MIX_LIMIT / 2 ** narrowness;
  const first = { ...get, get: from(mix), end: from(Math.min(end, MIX_LIMIT)) };
  return end <= MIX_LIMIT ? [first] : [first, { ...get, get: from(0), end: from(end - MIX_LIMIT) }];
}

interface HeldWindow {
  readonly now: bigint;
  readonly heldSpan: bigint | undefined;
  readonly limit: number;
}

/** The get for leases by deadline: all that have expired, and a window of the valid ones. */
export function heldWindow(layout: Layout, space: Space, { now, heldSpan, limit }: HeldWindow): GetOperation {
  const last = heldSpan === undefined ? LAST_BUCKET : bucketOf(now) + heldSpan;
  return { ...heldUpTo(layout, space, last), sort: "VALUE_ASCEND", limit };
}

function narrowed(narrowness: number, count: number): number {
  return count <= CROWDED ? narrowness : Math.min(NARROWEST, narrowness + Math.floor(Math.log2(count / (CROWDED / 2))));
}
