import { MAX_KEY_SIZE } from "./limits.ts";

/**
 * The least key above `key`, or `undefined` where no key of the allowed size is.
 *
 * Behind a key that is not yet full-length comes the same with a zero byte. Behind a
 * full-length one comes the next key of that length, without the zeros at its end
 * that follow from a carry: they would not change which keys lie between.
 */
export function keySuccessor(key: Uint8Array): Uint8Array | undefined {
  if (key.length > MAX_KEY_SIZE) return undefined;
  if (key.length < MAX_KEY_SIZE) {
    const longer = new Uint8Array(key.length + 1);
    longer.set(key);
    return longer;
  }
  let last = key.length - 1;
  while (last >= 0 && key[last] === 0xff) last--;
  if (last < 0) return undefined;
  const next = new Uint8Array(key.subarray(0, last + 1));
  next[last]! += 1;
  return next;
}
