import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, type KeyBuf } from "../keys/key-buf.ts";

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
  const size = successorSize(prefix);
  if (size === 0) return false;

  // The whole prefix, although its end is not needed: a shorter one would need a view.
  out.bytes.set(prefix);
  out.bytes[size - 1]! += 1;
  out.commit(size);
  return true;
}

/** The least key above every key starting with `prefix`, or `undefined` if `prefixSuccessorInto` returns `false`. */
export function prefixSuccessor(prefix: Uint8Array): Uint8Array | undefined {
  assertBytes(prefix, "prefix");
  const size = successorSize(prefix);
  if (size === 0) return undefined;

  const successor = new Uint8Array(prefix.subarray(0, size));
  successor[size - 1]! += 1;
  return successor;
}

/**
 * The size of the successor of a prefix in bytes; zero if there is none.
 *
 * It ends with the last byte that can be incremented. Every byte after that is `ff`, and is left out.
 */
function successorSize(prefix: Uint8Array): number {
  if (prefix.length > MAX_KEY_SIZE) return 0;
  let size = prefix.length;
  while (size > 0 && prefix[size - 1] === 0xff) size--;
  return size;
}
