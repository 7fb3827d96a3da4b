import type { RangeInput } from "@gossip/contracts";
import { prefixSuccessor, rangeMidpoint, splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";

/** What a holder knows of the keys of its shard. All keys are in order. */
export interface KnownKeys {
  readonly range: RangeInput;
  /** The last key that was begun. */
  readonly startedKey: Uint8Array | undefined;
  /** Some of those before it. */
  readonly samples: readonly Uint8Array[];
  /** Keys that were read and not begun. */
  readonly ahead: readonly Uint8Array[];
  /** Whether those are all there are. */
  readonly isEndKnown: boolean;
  /** How long they will take, at the pace so far. */
  readonly aheadMs: number;
}

/** What was read is worth sharing by itself where it will take this long. */
const MUCH_AHEAD_MS = 2000;

/**
 * A key behind which half of the remaining work is expected, or `undefined` where there is nothing to cut.
 *
 * Where everything that remains has been read, it is the middle item. So it is where what was read will take a while by
 * itself: whatever comes behind it, both then have something to do. Otherwise what was read lies below the cut, and the
 * rest is judged by what was seen: data that shared a prefix so far is taken to go on sharing it, and to use no greater
 * bytes behind it than it did. A cut too low leaves the holder with less than half, which costs another split; one
 * beyond all data hands over nothing and wins nobody any time.
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

/** Where the data seen so far lets its end be expected, inside the range; `undefined` where too little was seen. */
function likelyEnd({ range, samples, ahead }: KnownKeys, low: Uint8Array): Uint8Array | undefined {
  const first = samples[0] ?? ahead[0];
  if (first === undefined || compareBytes(first, low) >= 0) return undefined;
  const shared = sharedPrefixSize(first, low);
  const end = prefixSuccessor(highestPrefix({ samples, low, shared }));
  if (end === undefined || compareBytes(end, low) <= 0) return undefined;
  return range.end.length === 0 || compareBytes(end, range.end) < 0 ? end : undefined;
}

/**
 * What the last keys may begin with: the shared prefix, and behind it the greatest byte that keys have there or further on. Keys
 * made of digits or letters then end with the last of those, and not with `ff`. Where the first byte behind the prefix is the
 * greatest itself, as in a number that counts up, nothing speaks against any byte there.
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
