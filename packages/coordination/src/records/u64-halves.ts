/**
 * One 64-bit integer and its two halves, in the same eight bytes: halves come out of a typed array in a fraction of the time that arithmetic
 * with bigints takes, which makes one at each step.
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
