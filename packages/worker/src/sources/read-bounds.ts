import { MAX_KEY_SIZE, type RangeInput } from "@gossip/contracts";
import { keySuccessor } from "@gossip/frontier";
import { assert, assertBytes, compareBytes } from "@gossip/stdx";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** The remaining part of a range: keys from `from` up to but not including `end`. An empty bound is no bound. */
export interface ReadBounds {
  readonly from: Uint8Array;
  readonly end: Uint8Array;
}

/** The part of a range above `after`, or `undefined` if no key can be in it. */
export function readBounds({
  range,
  after,
}: {
  readonly range: RangeInput;
  readonly after?: Uint8Array | undefined;
}): ReadBounds | undefined {
  assert(typeof range === "object" && range !== null, "range must be an object with start and end");
  assertBytes(range.start, "range start");
  assertBytes(range.end, "range end");
  const { start, end } = range;
  let from = start;
  if (after !== undefined) {
    assertBytes(after, "after");
    assert(after.length <= MAX_KEY_SIZE, () => `after has ${after.length} bytes, a key has at most ${MAX_KEY_SIZE}`);
    const next = after.length === 0 ? NO_BYTES : keySuccessor(after);
    if (next === undefined) return undefined;
    if (compareBytes(next, from) > 0) from = next;
  }
  return end.length > 0 && compareBytes(from, end) >= 0 ? undefined : { from, end };
}

/** Whether a key lies below the end of the reading. */
export function isBelowEnd(key: Uint8Array, end: Uint8Array): boolean {
  return end.length === 0 || compareBytes(key, end) < 0;
}
