import type { RangeInput } from "@gossip/contracts";
import { prefixSuccessor, rangeMidpoint, splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";

/** What a holder knows about the keys of its shard. All keys are in order. */
export interface KnownKeys {
  readonly range: RangeInput;
  /** The last key that was started. */
  readonly startedKey: Uint8Array | undefined;
  /** A sample of the keys before it. */
  readonly samples: readonly Uint8Array[];
  /** Keys that were read but not started. */
  readonly ahead: readonly Uint8Array[];
  /** Whether no further keys follow. */
  readonly isEndKnown: boolean;
  /** How long they will take at the current pace. */
  readonly aheadMs: number;
}

/** If the items ahead take this long, they are worth sharing on their own. */
const MUCH_AHEAD_MS = 2000;

/**
 * A key with half of the expected remaining work after it, or `undefined` if there is nothing to split.
 *
 * If everything that remains has been read, it is the middle item. The same holds if the items read so far will take a
 * while by themselves: both parts then have work, whatever follows. Otherwise the cut lies above the items read, and
 * the rest is estimated from the keys seen: data with a common prefix is assumed to keep it, and to use no greater
 * bytes after it than so far. A cut that is too low leaves the holder with less than half, which costs another split. A
 * cut above all data hands over nothing.
 */
export function splitPoint(known: KnownKeys): Uint8Array | undefined {
  const { range, startedKey, ahead, isEndKnown, aheadMs } = known;
  const start = startedKey ?? range.start;
  const middle = (): Uint8Array | undefined => splitPointsFromSamples({ start, end: range.end }, ahead, 2)[0];
  if (isEndKnown || aheadMs >= MUCH_AHEAD_MS) return middle();
  const low = ahead.at(-1) ?? start;
  const end = likelyEnd(known, low) ?? range.end;
  return rangeMidpoint({ start: low, end }) ?? rangeMidpoint({ start: low, end: range.end }) ?? middle();
}

/** The expected end of the data inside the range, judged by the keys seen. `undefined` if too few were seen. */
function likelyEnd({ range, samples, ahead }: KnownKeys, low: Uint8Array): Uint8Array | undefined {
  const first = samples[0] ?? ahead[0];
  if (first === undefined || compareBytes(first, low) >= 0) return undefined;
  const shared = sharedPrefixSize(first, low);
  const end = prefixSuccessor(highestPrefix({ samples, low, shared }));
  if (end === undefined || compareBytes(end, low) <= 0) return undefined;
  return range.end.length === 0 || compareBytes(end, range.end) < 0 ? end : undefined;
}

/**
 * The expected prefix of the last keys: the common prefix, followed by the greatest byte that keys have there or later.
 * Keys made of digits or letters then end with the last of those, and not with `ff`. If the first byte after the prefix
 * is itself the greatest, as in a number that counts up, any byte is possible there.
 */
function highestPrefix({
  samples,
  low,
  shared,
}: {
  readonly samples: readonly Uint8Array[];
  readonly low: Uint8Array;
  readonly shared: number;
}): Uint8Array {
  const highest = Math.max(...[...samples, low].map((key) => highestByte(key, shared + 1)));
  if (highest <= low[shared]!) return low.slice(0, shared);
  const prefix = low.slice(0, shared + 1);
  prefix[shared] = highest;
  return prefix;
}

function sharedPrefixSize(a: Uint8Array, b: Uint8Array): number {
  let size = 0;
  while (size < a.length && size < b.length && a[size] === b[size]) size++;
  return size;
}

function highestByte(key: Uint8Array, from: number): number {
  let highest = 0;
  for (let index = from; index < key.length; index++) highest = Math.max(highest, key[index]!);
  return highest;
}
