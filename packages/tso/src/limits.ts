/** Bits of a timestamp that count within one millisecond. */
export const LOGICAL_BITS = 18;

/** Largest counter value within one millisecond. */
export const LOGICAL_MAX = 262_143;

/** Timestamps in one millisecond, and so the most that one grant may hold: a grant never spans two. */
export const MAX_GRANT_COUNT = 262_144;

/** Largest millisecond since the Unix epoch that a timestamp can carry: 46 bits, the year 4199. */
export const PHYSICAL_MS_MAX = 70_368_744_177_663;

/** Largest epoch: 128 bits, so that a Paxos ballot fits without loss. */
export const EPOCH_MAX = (1n << 128n) - 1n;

/** Largest packed timestamp: 64 ones. */
export const TIMESTAMP_MAX = (1n << 64n) - 1n;

/** Whether `value` is a whole number of milliseconds that a timestamp can carry. */
export function isPhysicalMs(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= PHYSICAL_MS_MAX;
}
