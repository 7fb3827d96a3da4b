import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { TupleDecodeError } from "./tuple-error.ts";
import * as codes from "./tuple-code.ts";
import {
  ALL_ASCENDING,
  assertOrder,
  isDescending,
  MAX_TUPLE_DEPTH,
  type PartOrder,
  type TupleElement,
} from "./tuple-element.ts";
import { complement, MAX_INTEGER_SIZE, readDouble, readInteger } from "./tuple-number.ts";
import { readUtf8 } from "../keys/utf8.ts";

/**
 * Decodes a tuple. Accepts any bytes, and returns an error if they are not a tuple.
 *
 * Pass the `order` that the tuple was encoded with: the bytes do not contain it. The decoded parts own their bytes.
 * They encode to the same bytes again, except for NaN: every bit pattern of NaN decodes, and NaN always encodes to
 * `7ff8000000000000`. Keep the original key if you have to find it again.
 */
export function decodeTuple(
  bytes: Uint8Array,
  order: readonly PartOrder[] = ALL_ASCENDING,
): Result<TupleElement[], TupleDecodeError> {
  assertBytes(bytes, "bytes");
  assertOrder(order);
  const parts = reader.readTuple(bytes, order);
  return parts === undefined ? err(reader.failure!) : ok(parts);
}

/** Reads one element after another. Each `read…` returns `undefined` on an error, and `failure` then holds the reason. */
class TupleReader {
  failure: TupleDecodeError | undefined = undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #offset = 0;
  /** XORed with every byte of the current part: 0, or 0xff if the part descends. */
  #flip = 0;

  readTuple(bytes: Uint8Array, order: readonly PartOrder[]): TupleElement[] | undefined {
    const parts: TupleElement[] = [];
    this.#bytes = bytes;
    this.#offset = 0;
    while (this.#offset < this.#bytes.length) {
      this.#flip = isDescending(order, parts.length) ? 0xff : 0;
      const part = this.#readElement(0);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return parts;
  }

  #readElement(depth: number): TupleElement | undefined {
    const start = this.#offset;
    const code = this.#bytes[start]! ^ this.#flip;
    // Integers first: they are common, and have seventeen codes.
    const signedSize = code - codes.ZERO;
    if (signedSize >= -MAX_INTEGER_SIZE && signedSize <= MAX_INTEGER_SIZE) return this.#readInteger(start, signedSize);
    switch (code) {
      case codes.NULL:
        this.#offset = start + 1;
        return null;
      case codes.FALSE:
      case codes.TRUE:
        this.#offset = start + 1;
        return code === codes.TRUE;
      case codes.STRING:
        return this.#readString(start);
      case codes.BYTES:
        return this.#readBytes(start);
      case codes.DOUBLE:
        return this.#take(start, 8) ? readDouble(this.#bytes, start + 1, this.#flip) : undefined;
      case codes.UUID:
        return this.#readUuid(start);
      case codes.NESTED:
        return this.#readNested(start, depth + 1);
      default:
        return this.#fail("UnknownTypeCode", start);
    }
  }

  #readInteger(start: number, signedSize: number): bigint | undefined {
    if (!this.#take(start, signedSize < 0 ? -signedSize : signedSize)) return undefined;
    if (signedSize === 0) return 0n;
    // A negative integer is written as the complement of its magnitude.
    const flip = signedSize < 0 ? this.#flip ^ 0xff : this.#flip;
    // A zero in front could be left out.
    if (this.#bytes[start + 1] === flip) return this.#fail("NonCanonical", start);
    return readInteger(this.#bytes, start + 1, this.#offset, flip, signedSize < 0);
  }

  #readUuid(start: number): TupleElement | undefined {
    if (!this.#take(start, codes.UUID_SIZE)) return undefined;
    const bytes = new Uint8Array(this.#bytes.subarray(start + 1, start + 1 + codes.UUID_SIZE));
    if (this.#flip !== 0) complement(bytes, 0, codes.UUID_SIZE);
    return { kind: "Uuid", bytes };
  }

  #readString(start: number): string | undefined {
    const zeroCount = this.#findEnd(start);
    if (zeroCount === undefined) return undefined;
    const end = this.#offset - 1;
    const isPlain = zeroCount === 0 && this.#flip === 0;
    const content = isPlain ? this.#bytes : this.#unescape(start + 1, end - start - 1 - zeroCount);
    const text = isPlain ? readUtf8(content, start + 1, end) : readUtf8(content, 0, content.length);
    return text ?? this.#fail("InvalidUtf8", start);
  }

  #readBytes(start: number): Uint8Array | undefined {
    const zeroCount = this.#findEnd(start);
    if (zeroCount === undefined) return undefined;
    return this.#unescape(start + 1, this.#offset - start - 2 - zeroCount);
  }

  #readNested(start: number, depth: number): TupleElement[] | undefined {
    if (depth > MAX_TUPLE_DEPTH) return this.#fail("TooDeep", start);
    const elements: TupleElement[] = [];
    this.#offset = start + 1;
    for (;;) {
      const at = this.#offset;
      if (at >= this.#bytes.length) return this.#fail("Truncated", start);
      if ((this.#bytes[at]! ^ this.#flip) !== codes.TERMINATOR) {
        const element = this.#readElement(depth);
        if (element === undefined) return undefined;
        elements.push(element);
        continue;
      }
      if (!this.#isEscaped(at)) {
        this.#offset = at + 1;
        return elements;
      }
      if (this.#flip !== 0) return this.#fail("NonCanonical", start);
      elements.push(null);
      this.#offset = at + 2;
    }
  }

  /** Moves past a type code and `size` bytes. Fails if they are missing. */
  #take(start: number, size: number): boolean {
    const end = start + 1 + size;
    if (end > this.#bytes.length) {
      this.#fail("Truncated", start);
      return false;
    }
    this.#offset = end;
    return true;
  }

  /** Moves past the terminator of a string or bytes. Returns the number of escaped zeros in it. */
  #findEnd(start: number): number | undefined {
    const bytes = this.#bytes;
    // Without the flip, so that the loop compares bytes as they are.
    const terminator = codes.TERMINATOR ^ this.#flip;
    let zeroCount = 0;
    for (let index = start + 1; index < bytes.length; index++) {
      if (bytes[index] !== terminator) continue;
      if (!this.#isEscaped(index)) {
        this.#offset = index + 1;
        return zeroCount;
      }
      if (this.#flip !== 0) return this.#fail("NonCanonical", start);
      zeroCount++;
      index++;
    }
    return this.#fail("Truncated", start);
  }

  /** Whether the zero at `index` belongs to the content. */
  #isEscaped(index: number): boolean {
    return index + 1 < this.#bytes.length && (this.#bytes[index + 1]! ^ this.#flip) === codes.ESCAPE;
  }

  /** `size` bytes of content from `start` on, as they were before escaping and flipping. */
  #unescape(start: number, size: number): Uint8Array {
    const content = new Uint8Array(size);
    let from = start;
    for (let index = 0; index < size; index++) {
      const byte = this.#bytes[from++]! ^ this.#flip;
      content[index] = byte;
      if (byte === codes.TERMINATOR) from++;
    }
    return content;
  }

  #fail(kind: TupleDecodeError["kind"], offset: number): undefined {
    this.failure = { kind, offset };
    return undefined;
  }
}

// Shared by all calls, because a key is decoded for every item. Nothing here awaits or calls back, so calls cannot
// interleave.
const reader = /* @__PURE__ */ new TupleReader();
