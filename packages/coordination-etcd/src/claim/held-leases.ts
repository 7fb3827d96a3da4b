import type { LogicalTime } from "@gossip/contracts";
import { InfraError } from "@gossip/coordination-errors";
import type { KeyValue, RangeResult } from "@gossip/etcd-client";
import { CorruptStore } from "@gossip/store-kit";
import { bucketOf } from "../layout/shard-indexes.ts";
import { fitHeld, raiseHeldLimit, widenHeld, type Windows } from "./windows.ts";

/** The leases of a run at one time. */
export interface HeldAt {
  /** Expired leases, the earliest deadline first. */
  readonly lapsed: readonly KeyValue[];
  /** The earliest deadline of the valid leases. */
  readonly earliestDeadline: LogicalTime | undefined;
}

/**
 * Interprets a window of the leases, sorted by deadline. `held` is undefined if the window was too narrow; `next` is
 * the window to use next.
 */
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
  // All returned leases have expired. More may follow, inside the window or beyond it.
  if (more) return { held: undefined, next: raiseHeldLimit(used, kvs.length) };
  if (used.heldSpan !== undefined) return { held: undefined, next: widenHeld(used) };
  return { held: { lapsed: kvs, earliestDeadline: undefined }, next: used };
}

export function deadlineIn({ value }: KeyValue): LogicalTime {
  if (value.length !== 8)
    throw new CorruptStore(
      InfraError.corruption({ operation: "etcd.readHint", message: "a lease in the claim index has no deadline" }),
    );
  return value.readBigUInt64BE() as LogicalTime;
}
