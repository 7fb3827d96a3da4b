import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import type { GetOperation } from "@gossip/etcd-client";
import { bucketOf, freeFrom, heldUpTo, LAST_BUCKET, MIX_LIMIT } from "../layout/place.ts";
import type { Layout, Space } from "../layout/layout.ts";

/** A capacity hint counts no further. */
export const MAX_HINT_COUNT: number = MAX_CLAIM_COUNT;

/** A window over the free that holds more than this is made narrower, to about half of it. */
const CROWDED = 4096;
/** A window over the leases that holds more than this ends with the bucket of the first that holds. They are read to be sorted, which takes longer than counting. */
const CROWDED_HELD = 256;
/** Most spaces whose windows are remembered. */
const MAX_KNOWN = 1024;
/** A window that held too few is made sixteen times as wide. */
const WIDEN_BITS = 4;
/** Of 32: a window never becomes narrower than a handful of mixes. */
const NARROWEST = 28;

/** Where to look in a run's claim indexes. */
export interface Windows {
  /** A window over the free shards is one in `2^begun`, or `2^fresh`, of all mixes. */
  readonly begun: number;
  readonly fresh: number;
  /** Leases are looked at up to so many buckets from now on; all of them where it is undefined. */
  readonly heldSpan: bigint | undefined;
  /** How many leases to ask for, those that end first. One does where, as nearly always, none has lapsed. */
  readonly heldLimit: number;
}

const WHOLE: Windows = { begun: 0, fresh: 0, heldSpan: undefined, heldLimit: 1 };

/**
 * How much of each run's claim indexes to look at.
 *
 * etcd counts a whole range whatever the limit, so that asking for the first eight of a million keys costs as much as counting them. But
 * a claim needs a few shards from anywhere and a hint counts to `MAX_HINT_COUNT`. So each looks at a window; and how wide one must be to hold some
 * thousands is learned from what the last one held. A window that turns out to hold too few is widened and looked at again: what is
 * answered never depends on it.
 */
export class KnownWindows {
  readonly #known = new Map<Space, Windows>();

  of(space: Space): Windows {
    return this.#known.get(space) ?? WHOLE;
  }

  /** Look so the next time. */
  learn(space: Space, windows: Windows): void {
    if (this.#known.size >= MAX_KNOWN && !this.#known.has(space)) this.#known.clear();
    this.#known.set(space, windows);
  }
}

/** Whether windows over the free leave nothing out. */
export function isWholeFree({ begun, fresh }: Windows): boolean {
  return begun === 0 && fresh === 0;
}

/** Windows over the free that are narrower where they are crowded. */
export function narrowFree(windows: Windows, counts: { readonly begun: number; readonly fresh: number }): Windows {
  return { ...windows, begun: narrowed(windows.begun, counts.begun), fresh: narrowed(windows.fresh, counts.fresh) };
}

export function widenFree(windows: Windows): Windows {
  return { ...windows, begun: Math.max(0, windows.begun - WIDEN_BITS), fresh: Math.max(0, windows.fresh - WIDEN_BITS) };
}

/** A window over the leases that fits what one held: how many, how many of them lapsed, and how far off the first was that still holds. */
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

/** Ask for more leases: all that were given had lapsed. */
export function raiseHeldLimit(windows: Windows, used: number): Windows {
  return { ...windows, heldLimit: used << WIDEN_BITS };
}

/** A window over those that nobody holds, and what to look at in it. */
interface FreeWindow extends Pick<GetOperation, "limit" | "keysOnly" | "countOnly"> {
  readonly isBegun: boolean;
  readonly mix: number;
  readonly narrowness: number;
}

/** Those that nobody holds, in a window that begins at `mix` and goes round at the end. One look, or two. */
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

/** Leases, those that end first before the others: all that have lapsed, and a window of those that hold. */
export function heldWindow(layout: Layout, space: Space, { now, heldSpan, limit }: HeldWindow): GetOperation {
  const last = heldSpan === undefined ? LAST_BUCKET : bucketOf(now) + heldSpan;
  return { ...heldUpTo(layout, space, last), sort: "VALUE_ASCEND", limit };
}

function narrowed(narrowness: number, count: number): number {
  return count <= CROWDED ? narrowness : Math.min(NARROWEST, narrowness + Math.floor(Math.log2(count / (CROWDED / 2))));
}
