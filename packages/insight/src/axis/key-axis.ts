import { assert, compareBytes } from "@gossip/stdx";
import { keyBetween, keyPosition } from "./key-position.ts";

/** More initial shards than this share segments, so that an axis stays small. */
const MAX_SEGMENTS = 4096;

/**
 * Where the keys of a run lie between 0 and 1.
 *
 * Every initial shard has the same width, because a source plans them to be about equally large. Inside an initial shard
 * a key lies where its bytes do. The starts of initial shards and the end of the last shard never change, so positions
 * never do.
 */
export class KeyAxis {
  readonly #starts: readonly Uint8Array[];
  readonly #end: Uint8Array;
  /** The segment that was used last: lists are in key order, so it is nearly always right. */
  #last = 0;

  /** `starts` must ascend. An empty end is no bound. */
  constructor(starts: readonly Uint8Array[], end: Uint8Array) {
    assert(starts.length > 0, "an axis needs at least one shard");
    this.#starts = starts;
    this.#end = end;
  }

  /** The first key of the run, and the first above its last. Empty: no bound. */
  get start(): Uint8Array {
    return this.#starts[0]!;
  }

  get end(): Uint8Array {
    return this.#end;
  }

  /** The position of a key, or of a range's start. */
  position(key: Uint8Array): number {
    const segment = this.#segmentOf(key);
    return (segment + keyPosition(this.#rangeOf(segment), key)) / this.#starts.length;
  }

  /** The position of a range's end. An empty end is the end of the axis. */
  endPosition(end: Uint8Array): number {
    return end.length === 0 ? 1 : this.position(end);
  }

  /**
   * A key at a position: no key that exists, but one that lies there. With `isText` it ends before the first byte that
   * is not printable ASCII, so that it can be read.
   */
  keyAt(position: number, { isText = false }: { readonly isText?: boolean } = {}): Uint8Array {
    const count = this.#starts.length;
    const at = Math.min(Math.max(position, 0), 1) * count;
    const segment = Math.min(Math.floor(at), count - 1);
    return keyBetween(this.#rangeOf(segment), at - segment, isText);
  }

  #rangeOf(segment: number): { readonly start: Uint8Array; readonly end: Uint8Array } {
    return { start: this.#starts[segment]!, end: this.#starts[segment + 1] ?? this.#end };
  }

  #segmentOf(key: Uint8Array): number {
    const starts = this.#starts;
    const isIn = (segment: number): boolean =>
      (segment === 0 || compareBytes(starts[segment]!, key) <= 0) &&
      (segment === starts.length - 1 || compareBytes(key, starts[segment + 1]!) < 0);
    if (isIn(this.#last)) return this.#last;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (compareBytes(starts[middle]!, key) <= 0) low = middle;
      else high = middle - 1;
    }
    this.#last = low;
    return low;
  }
}

/** Collects what an axis is made of, in one pass over the shards of a run in key order. */
export class KeyAxisBuilder {
  #starts: Uint8Array[] = [];
  #every = 1;
  #seen = 0;
  #end: Uint8Array | undefined;

  /** Add a shard. */
  add({
    start,
    end,
    isInitial,
  }: {
    readonly start: Uint8Array;
    readonly end: Uint8Array;
    readonly isInitial: boolean;
  }): void {
    this.addEnd(end);
    if (isInitial) this.addInitial(start);
  }

  /** Add the end of a shard. The last shard by key has the greatest, so that its end alone is enough. */
  addEnd(end: Uint8Array): void {
    if (this.#end === undefined || isAbove(end, this.#end)) this.#end = end;
  }

  /** Add the start of an initial shard. */
  addInitial(start: Uint8Array): void {
    if (this.#seen++ % this.#every === 0) this.#starts.push(start);
    if (this.#starts.length <= MAX_SEGMENTS) return;
    this.#starts = this.#starts.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }

  /** The axis, or `undefined` without an initial shard and an end. */
  build(): KeyAxis | undefined {
    return this.#starts.length === 0 || this.#end === undefined ? undefined : new KeyAxis(this.#starts, this.#end);
  }
}

function isAbove(a: Uint8Array, b: Uint8Array): boolean {
  if (b.length === 0) return false;
  return a.length === 0 || compareBytes(a, b) > 0;
}
