import type { LogicalTime } from "@gossip/contracts";
import { CapacityHint, type RunMoment } from "@gossip/coordination";
import type { GetOperation, RangeResult } from "@gossip/etcd-client";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { deadlineIn, readHeld } from "../claim/held-leases.ts";
import { ShardKind, type Layout, type RunAddress, type Space } from "../layout/layout.ts";
import { hintAt, type RunCapacity } from "./run-capacity.ts";
import type { StoreParts } from "../store-parts.ts";
import {
  freeWindow,
  heldWindow,
  isWholeFree,
  MAX_HINT_COUNT,
  narrowFree,
  widenFree,
  withHeld,
  type Windows,
} from "../claim/windows.ts";

/** Maximum number of gets needed to read a capacity. */
export const MAX_CAPACITY_LOOKS = 4;
const MAX_TRIES = 32;

/** How to read a space: the windows to use and the time. */
interface CapacityQuery {
  readonly space: Space;
  readonly windows: Windows;
  readonly now: LogicalTime;
}

/** The gets that read a run's capacity. With ample windows, the leases are left out. */
export function capacityGets(
  layout: Layout,
  address: RunAddress,
  { space, windows, now }: CapacityQuery,
): GetOperation[] {
  return [
    ...freeCounts(layout, space, windows),
    ...(windows.isAmple
      ? []
      : [heldWindow(layout, space, { now, heldSpan: windows.heldSpan, limit: windows.heldLimit })]),
    { get: layout.starved(address) },
  ];
}

/** Counts the free shards: started and untouched ones separately, or both with one get if both windows are whole. */
function freeCounts(layout: Layout, space: Space, windows: Windows): GetOperation[] {
  if (isWholeFree(windows)) return [{ ...layout.kinds(space, ShardKind.Begun, ShardKind.Fresh), countOnly: true }];
  return [
    ...freeWindow(layout, space, { isBegun: true, mix: 0, narrowness: windows.begun, countOnly: true }),
    ...freeWindow(layout, space, { isBegun: false, mix: 0, narrowness: windows.fresh, countOnly: true }),
  ];
}

/** The capacity, if the windows were wide enough to tell, and the windows to use next. */
interface ReadCapacity {
  readonly capacity: RunCapacity | undefined;
  readonly next: Windows;
}

export function readCapacity(found: readonly RangeResult[], now: LogicalTime, used: Windows): ReadCapacity {
  const [starved, ...others] = found.toReversed();
  const leases = used.isAmple ? undefined : readHeld(others.shift()!, now, used);
  const [fresh, begun] = others;
  const fitted = leases?.next ?? used;
  const counts = { begun: begun?.count ?? 0, fresh: fresh!.count };
  const free = counts.begun + counts.fresh;
  if (free < MAX_HINT_COUNT && !isWholeFree(used)) return { capacity: undefined, next: widenFree(fitted) };
  const next = narrowFree(fitted, counts);
  // Leases may be left out only where the free shards alone reach the limit.
  if (leases === undefined ? free < MAX_HINT_COUNT : leases.held === undefined) return { capacity: undefined, next };
  const { lapsed = [], earliestDeadline } = leases?.held ?? {};
  return {
    capacity: {
      askedFor: now,
      availableCount: Math.min(free + lapsed.length, MAX_HINT_COUNT),
      earliestDeadline,
      starvedUntil: starvedIn(starved!),
    },
    next,
  };
}

export async function readHint(
  { cluster, heads, windows: known }: StoreParts,
  moment: RunMoment,
): Promise<CapacityHint> {
  const { layout } = cluster;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    let used: Windows | undefined;
    const look = await heads.lookWith(moment, (space) => {
      if (space === undefined) return [{ get: layout.starved(moment) }];
      used = withHeld(known.of(space));
      return capacityGets(layout, moment, { space, windows: used, now: moment.now });
    });
    if (look === undefined) return CapacityHint.ZERO;
    const { space } = look.run;
    if (space === undefined || used === undefined) return withoutShards(look.found[0]!, moment.now);
    const { capacity, next } = readCapacity(look.found, moment.now, used);
    known.learn(space, next);
    if (capacity !== undefined) return hintAt(capacity, moment.now);
  }
  throw new Outpaced();
}

function withoutShards(starved: RangeResult, now: LogicalTime): CapacityHint {
  return hintAt(
    { askedFor: now, availableCount: 0, earliestDeadline: undefined, starvedUntil: starvedIn(starved) },
    now,
  );
}

function starvedIn({ kvs: [mark] }: RangeResult): LogicalTime | undefined {
  return mark && deadlineIn(mark);
}
