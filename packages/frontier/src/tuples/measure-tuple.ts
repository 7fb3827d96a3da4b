import { MAX_KEY_SIZE } from "@gossip/contracts";
import { isBytes } from "@gossip/stdx";
import {
  isDescending,
  MAX_TUPLE_DEPTH,
  UUID_SIZE,
  type PartOrder,
  type TupleElement,
  type TupleUuid,
} from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";
import { INTEGER_TOO_LARGE, integerSize } from "./tuple-integer.ts";
import { utf8Size } from "../keys/utf8.ts";

/**
 * The size of a tuple in bytes, or the first error, in the order of its elements.
 *
 * After measuring, writing cannot fail, so a refused tuple leaves the caller's buffer unchanged.
 */
export function measureTuple(parts: readonly TupleElement[], order: readonly PartOrder[]): number | TupleEncodeError {
  let size = 0;
  for (let partIndex = 0; partIndex < parts.length; partIndex++) {
    const part = parts[partIndex] as TupleElement;
    if (part === null && isBehindOpposite(parts, order, partIndex)) return { kind: "AmbiguousNull", partIndex };
    const partSize = measureElement(part, partIndex, isDescending(order, partIndex), 0);
    if (typeof partSize !== "number") return partSize;
    size += partSize;
    if (size > MAX_KEY_SIZE) return { kind: "KeyTooLarge", size, max: MAX_KEY_SIZE };
  }
  return size;
}

/** Whether an element's encoding ends with a terminator, so that what follows decides whether it is one. */
function isTerminated(element: TupleElement | undefined): boolean {
  return typeof element === "string" || isBytes(element) || Array.isArray(element);
}

function isBehindOpposite(parts: readonly TupleElement[], order: readonly PartOrder[], partIndex: number): boolean {
  if (partIndex === 0 || !isTerminated(parts[partIndex - 1])) return false;
  return isDescending(order, partIndex) !== isDescending(order, partIndex - 1);
}

// The position of the element is passed as separate arguments: an object would be an allocation per part of a key.

function measureElement(
  element: TupleElement,
  partIndex: number,
  descends: boolean,
  depth: number,
): number | TupleEncodeError {
  switch (typeof element) {
    case "string":
      return measureString(element, partIndex, descends);
    case "bigint": {
      const size = integerSize(element);
      return size === INTEGER_TOO_LARGE ? { kind: "IntegerTooLarge", partIndex } : 1 + size;
    }
    case "number":
      return 9;
    case "boolean":
      return 1;
    case "object":
      return element === null ? 1 : measureObject(element, partIndex, descends, depth);
    case "undefined":
    case "function":
    case "symbol":
      return { kind: "UnsupportedElement", partIndex, given: typeof element };
  }
}

function measureObject(
  element: Uint8Array | TupleUuid | readonly TupleElement[],
  partIndex: number,
  descends: boolean,
  depth: number,
): number | TupleEncodeError {
  if (isBytes(element)) return measureBytes(element, partIndex, descends);
  if (isArray(element)) return measureNested(element, partIndex, descends, depth + 1);
  const { kind, bytes } = element as Partial<TupleUuid>;
  if (kind !== "Uuid" || !isBytes(bytes)) return { kind: "UnsupportedElement", partIndex, given: "object" };
  return bytes.length === UUID_SIZE ? 1 + UUID_SIZE : { kind: "WrongUuidSize", partIndex, size: bytes.length };
}

function measureNested(
  elements: readonly TupleElement[],
  partIndex: number,
  descends: boolean,
  depth: number,
): number | TupleEncodeError {
  if (depth > MAX_TUPLE_DEPTH) return { kind: "PartTooDeep", partIndex };
  let size = 2;
  // By index, not by iterator: an array with holes has `undefined` there, which is refused.
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index] as TupleElement;
    if (element === null && descends) return { kind: "ZeroInDescending", partIndex };
    const elementSize = measureElement(element, partIndex, descends, depth);
    if (typeof elementSize !== "number") return elementSize;
    size += element === null ? 2 : elementSize;
    // Checked here too, and not only at the end: one array may occur many times, and the total exceed the memory.
    if (size > MAX_KEY_SIZE) return { kind: "KeyTooLarge", size, max: MAX_KEY_SIZE };
  }
  return size;
}

function measureString(text: string, partIndex: number, descends: boolean): number | TupleEncodeError {
  const size = utf8Size(text);
  if (size < 0) return { kind: "LoneSurrogateInPart", partIndex };
  let zeroCount = 0;
  for (let index = text.indexOf("\0"); index >= 0; index = text.indexOf("\0", index + 1)) zeroCount++;
  return zeroCount > 0 && descends ? { kind: "ZeroInDescending", partIndex } : 2 + size + zeroCount;
}

function measureBytes(bytes: Uint8Array, partIndex: number, descends: boolean): number | TupleEncodeError {
  let zeroCount = 0;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === 0) zeroCount++;
  }
  return zeroCount > 0 && descends ? { kind: "ZeroInDescending", partIndex } : 2 + bytes.length + zeroCount;
}

// `Array.isArray` does not narrow a union that holds a readonly array.
function isArray(value: object): value is readonly TupleElement[] {
  return Array.isArray(value);
}
