import { assert, compareBytes, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { encodeTuple } from "./encode-tuple.ts";
import { frontierErrorMessage } from "../frontier-error-message.ts";
import { assertKeyBuf, type KeyBuf } from "../keys/key-buf.ts";
import type { KeyEncoding } from "../keys/key-encoding.ts";
import { ALL_ASCENDING, type PartOrder, type TupleElement } from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";

/** A tuple as a key, for example a composite primary key. Its bytes are those of `encodeTuple`. *Addition.* */
export class TupleKey implements KeyEncoding {
  // Encoded when it is made: that is also what finds out whether the tuple is a key.
  #bytes: Uint8Array;

  /** What `tryNew` refuses is an `InvariantViolation`. */
  constructor(parts: readonly TupleElement[], order: readonly PartOrder[] = ALL_ASCENDING) {
    const encoded = encodeTuple(parts, order);
    if (!encoded.ok) throw new InvariantViolation(frontierErrorMessage(encoded.error));
    this.#bytes = encoded.value;
  }

  /** A tuple that came from outside. */
  static tryNew(
    parts: readonly TupleElement[],
    order: readonly PartOrder[] = ALL_ASCENDING,
  ): Result<TupleKey, TupleEncodeError> {
    const encoded = encodeTuple(parts, order);
    if (!encoded.ok) return encoded;
    // The empty tuple's place is taken by these bytes, so that they are not made twice.
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
