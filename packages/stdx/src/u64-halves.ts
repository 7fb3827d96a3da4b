/**
 * One 64-bit integer and its two 32-bit halves, in the same eight bytes.
 *
 * Write `WHOLE[0]` and read the halves, or the other way around. Arithmetic on bigints allocates one per step, and a
 * `DataView` takes five times as long (10 ns against 2).
 *
 * Any function may overwrite it. Read the result before you call code of another module, and never keep it.
 */
export const WHOLE: BigUint64Array = /* @__PURE__ */ new BigUint64Array(1);
export const HALVES: Uint32Array = /* @__PURE__ */ new Uint32Array(WHOLE.buffer);

/** The index of the lower half: 0, except on a big-endian machine. */
export const LOW: 0 | 1 = /* @__PURE__ */ findLow();
export const HIGH: 0 | 1 = LOW === 0 ? 1 : 0;

function findLow(): 0 | 1 {
  return new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;
}
