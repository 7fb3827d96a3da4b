import { isBytes } from "@gossip/stdx";
import { writeDouble } from "./tuple-double.ts";
import {
  CODE_BYTES,
  CODE_DOUBLE,
  CODE_FALSE,
  CODE_NESTED,
  CODE_NULL,
  CODE_STRING,
  CODE_TRUE,
  CODE_UUID,
  ESCAPE,
  isDescending,
  TERMINATOR,
  UUID_SIZE,
  type PartOrder,
  type TupleElement,
  type TupleUuid,
} from "./tuple-element.ts";
import { complement, integerSize, writeInteger } from "./tuple-integer.ts";

/** Writes a measured tuple to the start of `target`, which has room for it. */
export function writeTuple(parts: readonly TupleElement[], order: readonly PartOrder[], target: Uint8Array): void {
  let offset = 0;
  for (let partIndex = 0; partIndex < parts.length; partIndex++) {
    const start = offset;
    offset = writeElement(parts[partIndex]!, target, start);
    if (isDescending(order, partIndex)) complement(target, start, offset);
  }
}

// Each of these writes one thing at `offset` and returns the next offset.

function writeElement(element: TupleElement, target: Uint8Array, offset: number): number {
  if (typeof element === "string") return writeString(element, target, offset);
  if (typeof element === "bigint") {
    const size = integerSize(element);
    writeInteger(element, size, target, offset);
    return offset + 1 + size;
  }
  if (typeof element === "number") {
    target[offset] = CODE_DOUBLE;
    writeDouble(element, target, offset + 1);
    return offset + 9;
  }
  if (typeof element === "object" && element !== null) return writeObject(element, target, offset);
  target[offset] = element === null ? CODE_NULL : element ? CODE_TRUE : CODE_FALSE;
  return offset + 1;
}

function writeObject(
  element: Uint8Array | TupleUuid | readonly TupleElement[],
  target: Uint8Array,
  offset: number,
): number {
  if (isBytes(element)) return writeBytes(element, target, offset);
  if ("kind" in element) {
    target[offset] = CODE_UUID;
    target.set(element.bytes, offset + 1);
    return offset + 1 + UUID_SIZE;
  }
  target[offset] = CODE_NESTED;
  let next = offset + 1;
  for (const inner of element) {
    next = writeElement(inner, target, next);
    // A bare null would look like the end of the nested tuple.
    if (inner === null) target[next++] = ESCAPE;
  }
  target[next] = TERMINATOR;
  return next + 1;
}

function writeBytes(bytes: Uint8Array, target: Uint8Array, offset: number): number {
  target[offset] = CODE_BYTES;
  let next = offset + 1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    target[next++] = byte;
    if (byte === TERMINATOR) target[next++] = ESCAPE;
  }
  target[next] = TERMINATOR;
  return next + 1;
}

/** Writes UTF-8 without `TextEncoder`, because zeros must be escaped and most strings are short. */
function writeString(text: string, target: Uint8Array, offset: number): number {
  target[offset] = CODE_STRING;
  let next = offset + 1;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      target[next++] = unit;
      if (unit === 0) target[next++] = ESCAPE;
    } else if (unit < 0x800) {
      target[next++] = 0xc0 | (unit >> 6);
      target[next++] = 0x80 | (unit & 0x3f);
    } else {
      next = writeLongCharacter(text.codePointAt(index)!, target, next);
      // Two code units make one character above 0xffff. Measuring has checked that they are a pair.
      if (unit >= 0xd800 && unit <= 0xdbff) index++;
    }
  }
  target[next] = TERMINATOR;
  return next + 1;
}

/** A character of three or four bytes. */
function writeLongCharacter(codePoint: number, target: Uint8Array, offset: number): number {
  let next = offset;
  if (codePoint < 0x1_0000) {
    target[next++] = 0xe0 | (codePoint >> 12);
  } else {
    target[next++] = 0xf0 | (codePoint >> 18);
    target[next++] = 0x80 | ((codePoint >> 12) & 0x3f);
  }
  target[next++] = 0x80 | ((codePoint >> 6) & 0x3f);
  target[next++] = 0x80 | (codePoint & 0x3f);
  return next;
}
