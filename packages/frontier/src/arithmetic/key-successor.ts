import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, type KeyBuf } from "../keys/key-buf.ts";
import { prefixSuccessor, prefixSuccessorInto } from "./prefix-successor.ts";

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
  assertBytes(key, "key");
  if (key.length >= MAX_KEY_SIZE) return prefixSuccessor(key);
  const successor = new Uint8Array(key.length + 1);
  successor.set(key);
  return successor;
}
