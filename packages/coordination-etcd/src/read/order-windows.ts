import type { KeyRange, Space } from "../layout/layout.ts";

/** Maximum number of spaces whose widths are cached. */
const MAX_KNOWN = 1024;
/** Fewer keys say too little about how close others are. */
const LEAST_KEYS = 16;
const DIGITS = "0123456789abcdef";

/**
 * Learns how far a page of shards must look ahead in the order of a run.
 *
 * etcd counts a whole range whatever the limit, so the first hundred of a million keys cost as much as counting them. A
 * page reads a window instead: the keys that share their first digits with the position. How many digits is learned
 * from the page before. A window that holds too few is followed by a wider one, so the result never depends on it.
 */
export class OrderWindows {
  readonly #digits = new Map<Space, number>();

  of(space: Space): number {
    return this.#digits.get(space) ?? 0;
  }

  /** Learns from the keys of a page that is not the last one. */
  learn(space: Space, all: KeyRange, keys: readonly string[]): void {
    if (keys.length < LEAST_KEYS) return;
    if (this.#digits.size >= MAX_KNOWN && !this.#digits.has(space)) this.#digits.clear();
    this.#digits.set(space, sharedDigits(digitsOf(all, keys[0]!), digitsOf(all, keys.at(-1)!)));
  }
}

/** Where the window from a key on ends, if its keys share so many digits. */
export function windowEnd(all: KeyRange, from: string, digits: number): string {
  const shared = digitsOf(all, from).slice(0, digits).padEnd(digits, "0");
  for (let at = shared.length - 1; at >= 0; at--) {
    const digit = DIGITS.indexOf(shared[at]!);
    if (digit < DIGITS.length - 1) return `${all.get}${shared.slice(0, at)}${DIGITS[digit + 1]!}`;
  }
  return all.end;
}

/** The digits of a range start in a key of the order. */
function digitsOf(all: KeyRange, key: string): string {
  return /^[0-9a-f]*/u.exec(key.slice(all.get.length))![0];
}

function sharedDigits(a: string, b: string): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}
