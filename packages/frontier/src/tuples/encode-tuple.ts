import { MAX_KEY_SIZE, U64_MAX } from "@gossip/contracts";
import { assert, err, isBytes, ok, type Result } from "@gossip/stdx";
import { utf8Size } from "../keys/utf8.ts";
import { complement, writeDouble, writeInteger } from "./tuple-number.ts";
import * as codes from "./tuple-code.ts";
import {
  ALL_ASCENDING,
  assertOrder,
  isDescending,
  MAX_TUPLE_DEPTH,
  type PartOrder,
  type TupleElement,
  type TupleUuid,
} from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";

/**
 * The bytes of a tuple, the same that FoundationDB's tuple layer gives it, or the first error in the order of its
 * elements.
 *
 * Keys are in the order of their first parts, then of their second, and so on; a tuple comes before the longer ones
 * that it begins. A descending part is the complement of its whole encoding. FoundationDB has no such parts and cannot
 * decode them.
 */
export function encodeTuple(
  parts: readonly TupleElement[],
  order: readonly PartOrder[] = ALL_ASCENDING,
): Result<Uint8Array, TupleEncodeError> {
  if (!Array.isArray(parts)) assert(false, "tuple must be an array of its parts");
  assertOrder(order);
  return writer.writeTuple(parts, order) ? ok(writer.bytes.slice(0, writer.size)) : err(writer.failure!);
}

/** Writes one element after another. Each `write…` returns `false` on an error, and `failure` then holds the reason. */
class TupleWriter {
  failure: TupleEncodeError | undefined = undefined;
  /** Ignores writes beyond its end, as typed arrays do, so a part that is too large is still counted to its end. */
  readonly bytes = new Uint8Array(MAX_KEY_SIZE);
  size = 0;
  #partIndex = 0;
  #descends = false;

  writeTuple(parts: readonly TupleElement[], order: readonly PartOrder[]): boolean {
    this.size = 0;
    for (let partIndex = 0; partIndex < parts.length; partIndex++) {
      const start = this.size;
      const descends = isDescending(order, partIndex);
      const isTurn = partIndex > 0 && descends !== this.#descends;
      this.#partIndex = partIndex;
      this.#descends = descends;
      if (isTurn && parts[partIndex] === null && isTerminated(parts[partIndex - 1]!)) {
        return this.#fail({ kind: "AmbiguousNull", partIndex });
      }
      if (!this.#writeElement(parts[partIndex]!, 0)) return false;
      if (this.size > MAX_KEY_SIZE) return this.#fail({ kind: "KeyTooLarge", size: this.size, max: MAX_KEY_SIZE });
      if (descends) complement(this.bytes, start, this.size);
    }
    return true;
  }

  #writeElement(element: TupleElement, depth: number): boolean {
    switch (typeof element) {
      case "string":
        return this.#writeString(element);
      case "bigint":
        if (element > U64_MAX || element < -U64_MAX) {
          return this.#fail({ kind: "IntegerTooLarge", partIndex: this.#partIndex });
        }
        this.size = writeInteger(element, this.bytes, this.size);
        return true;
      case "number":
        this.#put(codes.DOUBLE);
        writeDouble(element, this.bytes, this.size);
        this.size += 8;
        return true;
      case "boolean":
        return this.#put(element ? codes.TRUE : codes.FALSE);
      case "object":
        return element === null ? this.#put(codes.NULL) : this.#writeObject(element, depth);
      case "undefined":
      case "function":
      case "symbol":
        return this.#failUnsupported(element);
    }
  }

  #writeObject(element: Uint8Array | TupleUuid | readonly TupleElement[], depth: number): boolean {
    if (isBytes(element)) return this.#writeBytes(element);
    if (Array.isArray(element)) return this.#writeNested(element as readonly TupleElement[], depth + 1);
    const { kind, bytes } = element as Partial<TupleUuid>;
    if (kind !== "Uuid" || !isBytes(bytes)) return this.#failUnsupported(element);
    if (bytes.length !== codes.UUID_SIZE) {
      return this.#fail({ kind: "WrongUuidSize", partIndex: this.#partIndex, size: bytes.length });
    }
    this.#put(codes.UUID);
    for (let index = 0; index < codes.UUID_SIZE; index++) this.#put(bytes[index]!);
    return true;
  }

  #writeNested(elements: readonly TupleElement[], depth: number): boolean {
    if (depth > MAX_TUPLE_DEPTH) return this.#fail({ kind: "PartTooDeep", partIndex: this.#partIndex });
    const start = this.size;
    this.#put(codes.NESTED);
    // By index, not by iterator: an array with holes has `undefined` there, which is refused.
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index]!;
      if (!this.#writeElement(element, depth)) return false;
      // A bare null would look like the end of the nested tuple.
      if (element === null && !this.#escapeZero()) return false;
      // Checked here too, and not only at the end: one array may occur many times, and the total take forever.
      const size = this.size - start + 1;
      if (size > MAX_KEY_SIZE) return this.#fail({ kind: "KeyTooLarge", size, max: MAX_KEY_SIZE });
    }
    return this.#put(codes.TERMINATOR);
  }

  #writeBytes(bytes: Uint8Array): boolean {
    this.#put(codes.BYTES);
    for (let index = 0; index < bytes.length; index++) {
      this.#put(bytes[index]!);
      if (bytes[index] === 0 && !this.#escapeZero()) return false;
    }
    return this.#put(codes.TERMINATOR);
  }

  /** Writes UTF-8 without `TextEncoder`, because zeros must be escaped and most strings are short. */
  #writeString(text: string): boolean {
    if (utf8Size(text) < 0) return this.#fail({ kind: "LoneSurrogateInPart", partIndex: this.#partIndex });
    this.#put(codes.STRING);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) {
        this.#put(unit);
        if (unit === 0 && !this.#escapeZero()) return false;
      } else {
        const codePoint = text.codePointAt(index)!;
        this.#putCharacter(codePoint);
        // Two code units make one character above 0xffff.
        if (codePoint > 0xffff) index++;
      }
    }
    return this.#put(codes.TERMINATOR);
  }

  /** Appends a character of two to four bytes. */
  #putCharacter(codePoint: number): void {
    if (codePoint > 0xffff) {
      this.#put(0xf0 | (codePoint >> 18));
      this.#put(0x80 | ((codePoint >> 12) & 0x3f));
    } else if (codePoint > 0x7ff) {
      this.#put(0xe0 | (codePoint >> 12));
    }
    this.#put(codePoint > 0x7ff ? 0x80 | ((codePoint >> 6) & 0x3f) : 0xc0 | (codePoint >> 6));
    this.#put(0x80 | (codePoint & 0x3f));
  }

  /** Marks the zero just written as content. */
  #escapeZero(): boolean {
    if (this.#descends) return this.#fail({ kind: "ZeroInDescending", partIndex: this.#partIndex });
    return this.#put(codes.ESCAPE);
  }

  #put(byte: number): true {
    this.bytes[this.size++] = byte;
    return true;
  }

  #failUnsupported(element: unknown): false {
    return this.#fail({ kind: "UnsupportedElement", partIndex: this.#partIndex, given: typeof element });
  }

  #fail(failure: TupleEncodeError): false {
    this.failure = failure;
    return false;
  }
}

/** Whether an element's encoding ends with a terminator, so that what follows decides whether it is one. */
function isTerminated(element: TupleElement): boolean {
  return typeof element === "string" || isBytes(element) || Array.isArray(element);
}

// Shared by all calls: nothing here awaits or calls back, so calls cannot interleave.
const writer = /* @__PURE__ */ new TupleWriter();
