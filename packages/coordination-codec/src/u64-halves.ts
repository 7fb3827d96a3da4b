/**
 * One 64-bit integer and its two halves, in the same eight bytes.
 *
 * A bigint goes in and out of a typed array in 2 ns and of a `DataView` in 10, but
 * typed arrays know only aligned places and a record has none. So each passes
 * through here, and its halves go to their places as numbers.
 *
 * Good between two lines of one function, and nowhere else.
 */
export const WHOLE: BigUint64Array = /* @__PURE__ */ new BigUint64Array(1);
export const HALVES: Uint32Array = /* @__PURE__ */ new Uint32Array(WHOLE.buffer);

/** Where the machine keeps the lower half: 0 on all but big-endian ones. */
export const LOW: 0 | 1 = /* @__PURE__ */ findLow();
export const HIGH: 0 | 1 = LOW === 0 ? 1 : 0;

function findLow(): 0 | 1 {
  return new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;
}
