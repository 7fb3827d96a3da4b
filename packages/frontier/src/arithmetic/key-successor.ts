import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, KeyBuf } from "../keys/key-buf.ts";
import { prefixSuccessorInto } from "./prefix-successor.ts";

// Holds the result of the owned form before it is copied.
const spare = /* @__PURE__ */ new KeyBuf();

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
