// Good between two lines of one function, and nowhere else.
const WHOLE = /* @__PURE__ */ new BigUint64Array(1);
const HALVES = /* @__PURE__ */ new Uint32Array(WHOLE.buffer);

/**
 * Both halves of an id in one number: callers may count their ids in either. A typed array gives them in a fraction of the time that
 * arithmetic with bigints takes.
 */
export function foldId(id: bigint): number {
  WHOLE[0] = id;
  return HALVES[0]! ^ HALVES[1]!;
}
