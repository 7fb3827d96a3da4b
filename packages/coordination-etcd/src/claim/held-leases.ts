import type { LogicalTime } from "@gossip/contracts";
import { InfraError } from "@gossip/coordination-errors";
import type { KeyValue, RangeResult } from "@gossip/etcd-client";
import { CorruptStore } from "../cluster/etcd-failure.ts";
import { bucketOf } from "../layout/place.ts";
import { fitHeld, raiseHeldLimit, widenHeld, type Windows } from "./windows.ts";

/** What a look at the leases tells of a moment. */
export interface HeldAt {
  /** Those that have lapsed, the earliest first. */
  readonly lapsed: readonly KeyValue[];
  /** When the first of those ends that still hold. */
  readonly earliestDeadline: LogicalTime | undefined;
}

/** Read a look at a window of the leases, sorted by deadline: what it tells, where it tells it, and how to look the next time. */
export function readHeld(
  { kvs, count, more }: RangeResult,
  now: LogicalTime,
  used: Windows,
): { readonly held: HeldAt | undefined; readonly next: Windows } {
  const first = kvs.findIndex((kv) => deadlineIn(kv) > now);
  if (first !== -1) {
    const earliestDeadline = deadlineIn(kvs[first]!);
    const next = fitHeld(used, { count, lapsed: first, distance: bucketOf(earliestDeadline) - bucketOf(now) });
    return { held: { lapsed: kvs.slice(0, first), earliestDeadline }, next };
  }
  // All that were given have lapsed. There may be more of them, or some beyond the window.
  if (more) return { held: undefined, next: raiseHeldLimit(used, kvs.length) };
  if (used.heldSpan !== undefined) return { held: undefined, next: widenHeld(used) };
  return { held: { lapsed: kvs, earliestDeadline: undefined }, next: used };
}

export function deadlineIn({ value }: KeyValue): LogicalTime {
  if (value.length !== 8)
    throw new CorruptStore(
      InfraError.corruption({ operation: "etcd.readHint", message: "a lease in the index has no deadline" }),
    );
  return value.readBigUInt64BE() as LogicalTime;
}
