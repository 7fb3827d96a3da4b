import { assert, compareBytes, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { encodeTuple } from "./encode-tuple.ts";
import { frontierErrorMessage } from "../frontier-error-message.ts";
import { assertKeyBuf, type KeyBuf } from "../keys/key-buf.ts";
import type { KeyEncoding } from "../keys/key-encoding.ts";
import { ALL_ASCENDING, type PartOrder, type TupleElement } from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";

/** A tuple as a key, for example a composite primary key. Its bytes are those of `encodeTuple`. *Addition.* */
export class TupleKey implements KeyEncoding {
  // Encoded at construction, which also checks that the tuple is a key.
  #bytes: Uint8Array;

  /** Throws `InvariantViolation` for what `tryNew` refuses. */
  constructor(parts: readonly TupleElement[], order: readonly PartOrder[] = ALL_ASCENDING) {
    const encoded = encodeTuple(parts, order);
    if (!encoded.ok) throw new InvariantViolation(frontierErrorMessage(encoded.error));
    this.#bytes = encoded.value;
  }

  /** For untrusted input. */
  static tryNew(
    parts: readonly TupleElement[],
    order: readonly PartOrder[] = ALL_ASCENDING,
  ): Result<TupleKey, TupleEncodeError> {
    const encoded = encodeTuple(parts, order);
    if (!encoded.ok) return encoded;
    // Replaces the bytes of an empty tuple, so that the tuple is not encoded twice.
    const key = new TupleKey(ALL_ASCENDING);
    key.#bytes = encoded.value;
    return ok(key);
  }

  /** Order two tuples by their bytes. Negative, zero or positive. */
  static compare(a: TupleKey, b: TupleKey): number {
    assert(a instanceof TupleKey && b instanceof TupleKey, "both keys to compare must be tuple keys");
    return compareBytes(a.#bytes, b.#bytes);
  }

  /** Hot: allocates nothing. */
  encodeInto(out: KeyBuf): void {
    assertKeyBuf(out);
    out.copyFromSlice(this.#bytes);
  }
}
