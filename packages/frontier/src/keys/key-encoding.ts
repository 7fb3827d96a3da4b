import { assert } from "@gossip/stdx";
import { KeyBuf } from "./key-buf.ts";

/**
 * A typed key that knows its bytes.
 *
 * Everything above relies on two promises of an implementation. Where they are broken, ranges contain the wrong keys,
 * and nothing reports it:
 *
 * - *order*: where `a` comes before `b`, the bytes of `a` come before those of `b`;
 * - *canonical*: equal keys have equal bytes, and a key has the same bytes every time.
 */
export interface KeyEncoding {
  /** Write the whole key into `out`, at most `KeyBuf.CAPACITY` bytes. `KeyBuf.copyFromSlice` does all that is needed. */
  encodeInto(out: KeyBuf): void;
}

/** The bytes of a key, as a copy. */
export function encodeKey(key: KeyEncoding): Uint8Array {
  assertKeyEncoding(key, "key");
  const out = new KeyBuf();
  key.encodeInto(out);
  return out.toOwned();
}

/** Assert that a value can be asked for its bytes. */
export function assertKeyEncoding(key: unknown, what: string): asserts key is KeyEncoding {
  const isKey = typeof key === "object" && key !== null && "encodeInto" in key && typeof key.encodeInto === "function";
  if (!isKey) assert(false, `${what} must have a method encodeInto`);
}
