/** Items by key bucket in one step of time, in few bytes. */
export interface HeatColumn {
  /** For each bucket with items: the distance to the bucket before as a varint, then the items on a logarithmic scale. */
  readonly bytes: Uint8Array;
  /** Buckets are joined by powers of two until the column is small enough: this many times. */
  readonly shift: number;
}

export const NO_HEAT: HeatColumn = { bytes: new Uint8Array(0), shift: 0 };

/** Steps of the scale for each doubling: values are off by up to 4 %. */
const STEPS = 10;
/** The smallest number of items that differs from none is about an eighth. */
const FINENESS = 8;
/** A power of two above the number of key buckets. */
const MAX_BUCKETS = 2048;

/** Encode a column in at most `maxSize` bytes. */
export function encodeHeat(heat: ReadonlyMap<number, number>, maxSize: number): HeatColumn {
  let buckets = new Float64Array(MAX_BUCKETS);
  for (const [bucket, items] of heat) buckets[bucket]! += items;
  for (let shift = 0; ; shift++) {
    const bytes = encodeBuckets(buckets);
    if (bytes.length <= maxSize) return { bytes: Uint8Array.from(bytes), shift };
    const joined = new Float64Array(buckets.length / 2);
    for (let index = 0; index < joined.length; index++) joined[index] = buckets[2 * index]! + buckets[2 * index + 1]!;
    buckets = joined;
  }
}

/** Call `visit` with each part of the key axis that had items: the first bucket, how many buckets, and the items. */
export function visitHeat(
  { bytes, shift }: HeatColumn,
  visit: (first: number, count: number, items: number) => void,
): void {
  let [bucket, at] = [-1, 0];
  while (at < bytes.length) {
    let [gap, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++]!;
      gap += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 0x80 || at >= bytes.length) break;
    }
    if (at >= bytes.length) return;
    bucket += gap;
    visit(bucket << shift, 1 << shift, itemsOf(bytes[at++]!));
  }
}

/** The items of a column by bucket. Joined buckets share theirs. */
export function decodeHeat(column: HeatColumn): Map<number, number> {
  const heat = new Map<number, number>();
  visitHeat(column, (first, count, items) => {
    for (let bucket = first; bucket < first + count; bucket++) heat.set(bucket, items / count);
  });
  return heat;
}

function encodeBuckets(buckets: Float64Array): number[] {
  const bytes: number[] = [];
  let before = -1;
  for (let bucket = 0; bucket < buckets.length; bucket++) {
    const level = buckets[bucket] === 0 ? 0 : levelOf(buckets[bucket]!);
    if (level === 0) continue;
    let gap = bucket - before;
    before = bucket;
    for (; gap >= 0x80; gap >>= 7) bytes.push((gap & 0x7f) | 0x80);
    bytes.push(gap, level);
  }
  return bytes;
}

function levelOf(items: number): number {
  return Math.min(255, Math.round(STEPS * Math.log2(1 + FINENESS * items)));
}

function itemsOf(level: number): number {
  return (2 ** (level / STEPS) - 1) / FINENESS;
}
