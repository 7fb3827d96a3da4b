import type { ShardStatus } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { StatusCounts } from "@gossip/coordination-fsck";
import type { KeyValue, PutOperation } from "@gossip/etcd-client";
import { prefixEnd } from "@gossip/etcd-client";
import type { KeyRange, Layout, Space } from "./layout.ts";

// Status counts without contention. A write that changes a status also puts a key that names the change, and etcd counts
// the puts of a key: its version. So the counts need no condition, and no write waits for another one. A transaction may
// put a key only once, so each of its updates has keys of its own, by its position.
//
// Only spaces whose name tells so are counted. A version before that takes such a name for damage and does not write
// there, so that it cannot leave a change uncounted.

const COUNTED = "k";
const LETTERS: Readonly<Record<ShardStatus, string>> = { Active: "a", Done: "d", Split: "s", Parked: "p" };
const STATUSES: ReadonlyMap<string, ShardStatus> = new Map(
  Object.entries(LETTERS).map(([status, letter]) => [letter, status as ShardStatus]),
);
const TALLY = /\/([adsp])([adsp])\d+$/u;
const BASE = /^(-?\d{1,15}),(-?\d{1,15}),(-?\d{1,15})$/u;
/** So that fsck finds a difference. */
const UNREADABLE: StatusCounts = Object.freeze({ Done: -1, Split: -1, Parked: -1 });

/** The name of a space whose changes of status are counted, from the hex digits of another one. */
export function countedSpace(digits: string): Space {
  return `${COUNTED}${digits.slice(COUNTED.length)}`;
}

export function isCounted(space: Space): boolean {
  return space.startsWith(COUNTED);
}

/** All keys that the counts of a space are made of. */
export function tallyRange(layout: Layout, space: Space): KeyRange {
  const get = `${layout.space(space).get}t/`;
  return { get, end: prefixEnd(get) };
}

/** The key of what is counted at once: created shards, and corrections. */
export function baseKey(layout: Layout, space: Space): string {
  return `${tallyRange(layout, space).get}=`;
}

/** The part of an update that is counted. */
export interface StatusChange {
  readonly before: Pick<ShardRecord, "status">;
  readonly after: Pick<ShardRecord, "status">;
}

/** The put that counts a change of status, if a write makes one. `position`: that of the update in its transaction. */
export function tallyOperations(
  layout: Layout,
  { space, position }: { readonly space: Space; readonly position: number },
  { before, after }: StatusChange,
): PutOperation[] {
  if (before.status === after.status || !isCounted(space)) return [];
  const name = `${LETTERS[before.status]}${LETTERS[after.status]}${position}`;
  return [{ put: `${tallyRange(layout, space).get}${name}`, value: "" }];
}

/** The status counts that the keys of `tallyRange` add up to. */
export function sumTallies(keys: readonly KeyValue[]): StatusCounts {
  let sum = StatusCounts.NONE;
  for (const kv of keys) {
    const tally = TALLY.exec(kv.key);
    const added = tally === null ? readBase(kv) : changeOf(tally[1]!, tally[2]!, Number(kv.version));
    sum = StatusCounts.plus(sum, added);
  }
  return sum;
}

export function readBase(kv: KeyValue | undefined): StatusCounts {
  if (kv === undefined) return StatusCounts.NONE;
  const match = BASE.exec(kv.value.toString("latin1"));
  if (match === null) return UNREADABLE;
  return { Done: Number(match[1]), Split: Number(match[2]), Parked: Number(match[3]) };
}

export function baseValue({ Done, Split, Parked }: StatusCounts): string {
  return `${Done},${Split},${Parked}`;
}

function changeOf(from: string, to: string, times: number): StatusCounts {
  const counts = { Done: 0, Split: 0, Parked: 0 };
  const [before, after] = [STATUSES.get(from)!, STATUSES.get(to)!];
  if (before !== "Active") counts[before] -= times;
  if (after !== "Active") counts[after] += times;
  return counts;
}
