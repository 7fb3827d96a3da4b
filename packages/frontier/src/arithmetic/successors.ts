import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, KeyBuf } from "../keys/key-buf.ts";

// Holds the result of the owned form before it is copied.
const spare = /* @__PURE__ */ new KeyBuf();

/**
 * Write into `out` the least key that is above every key starting with `prefix`.
 *
 * The half-open range `[prefix, out)` then holds exactly the keys that start with `prefix`. For `"ab"` it is `"ac"`;
 * for `61 ff ff` it is `62`, because no key that starts with `61` can sort above it.
 *
 * Returns `false` and leaves `out` unchanged if no such key exists: the prefix is empty, is longer than `MAX_KEY_SIZE`,
 * or is `ff` throughout. Such a range has no upper end, and the caller must decide what that means.
 *
 * `prefix` may be a view of `out`. Hot: allocates nothing.
 */
export function prefixSuccessorInto(prefix: Uint8Array, out: KeyBuf): boolean {
  assertBytes(prefix, "prefix");
  assertKeyBuf(out);
  // Ends with the last byte that can be incremented. Every byte after that is `ff`, and is left out.
  let size = prefix.length;
  while (size > 0 && prefix[size - 1] === 0xff) size--;
  if (size === 0 || prefix.length > MAX_KEY_SIZE) return false;

  // The whole prefix, although its end is not needed: a shorter one would need a view.
  out.bytes.set(prefix);
  out.bytes[size - 1]! += 1;
  out.commit(size);
  return true;
}

/** The least key above every key starting with `prefix`, or `undefined` if `prefixSuccessorInto` returns `false`. */
export function prefixSuccessor(prefix: Uint8Array): Uint8Array | undefined {
  return prefixSuccessorInto(prefix, spare) ? spare.toOwned() : undefined;
}

/**
 * Write into `out` the least key above `key`.
 *
 * That is `key` and a zero byte, so nothing lies between the two. A key of `MAX_KEY_SIZE` bytes has no room for it: its
 * result is the successor of the key as a prefix.
 *
 * Returns `false` and leaves `out` unchanged if there is none: the key is longer than `MAX_KEY_SIZE`, or is that long
 * and `ff` throughout.
 *
 * `key` may be a view of `out`. Hot: allocates nothing.
 */
export function keySuccessorInto(key: Uint8Array, out: KeyBuf): boolean {
  assertBytes(key, "key");
  const size = key.length;
  if (size >= MAX_KEY_SIZE) return prefixSuccessorInto(key, out);
  assertKeyBuf(out);

  out.bytes.set(key);
  out.bytes[size] = 0;
  out.commit(size + 1);
  return true;
}

/** The least key above `key`, or `undefined` if `keySuccessorInto` returns `false`. */
export function keySuccessor(key: Uint8Array): Uint8Array | undefined {
  return keySuccessorInto(key, spare) ? spare.toOwned() : undefined;
}
