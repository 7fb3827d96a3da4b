import { MAX_KEY_SIZE } from "./limits.ts";

/**
 * The least key above `key`, or `undefined` if there is none of the allowed size.
 *
 * The successor of a key below the maximum length is the key and a zero byte. The successor of a key of maximum length
 * is the next key of that length, without the trailing zeros of a carry: no key lies between the two forms.
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
