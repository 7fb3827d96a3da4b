import { integerLimits, type KeyColumn } from "./key-column.ts";
import { ABOVE, BELOW, type KeyPart } from "./key-part.ts";
import { readNumeric } from "./numeric-key.ts";
import { timeAtOrAbove } from "./time-key.ts";

/** A condition on the first columns of a key. Every row at or above the given bytes meets it. */
export interface KeyBound {
  readonly operator: ">" | ">=";
  /** In the form in which key columns are selected. */
  readonly values: readonly string[];
}

// First bytes of elements: docs/reference/wire-format.md.
const CODE_BYTES = 0x01;
const CODE_TEXT = 0x02;
const CODE_ZERO = 0x14;
const CODE_FALSE = 0x26;
const CODE_TRUE = 0x27;
const CODE_UUID = 0x30;
const LONGEST_INTEGER = 8;
const UUID_SIZE = 16;

/**
 * The bound from which to read rows at or above `key`; `undefined` if no row can be that high.
 *
 * The bound of a shard may be any bytes. The condition admits every row at or above them and, if they are not the key of a row, a few
 * more, which the reader drops by comparing keys.
 */
export function boundFrom(columns: readonly KeyColumn[], key: Uint8Array): KeyBound | undefined {
  const values: string[] = [];
  let offset = 0;
  for (const column of columns) {
    if (offset === key.length) break;
    const part = readPart(column, key, offset);
    switch (part.kind) {
      case "Whole":
        values.push(part.value);
        offset = part.next;
        continue;
      case "Partial":
        return { operator: ">=", values: [...values, part.value] };
      case "Below":
        return { operator: ">=", values };
      case "Above":
        return values.length === 0 ? undefined : { operator: ">", values };
    }
  }
  // Bytes after a whole key are above its row and below the next.
  return { operator: offset < key.length ? ">" : ">=", values };
}

function readPart(column: KeyColumn, key: Uint8Array, offset: number): KeyPart {
  switch (column.kind) {
    case "integer":
    case "time":
    case "date":
      return readInteger(column, key, offset);
    case "numeric":
      return readNumericBytes(key, offset);
    case "text":
      return readText(key, offset);
    case "bytes":
      return readBytes(key, offset);
    case "uuid":
      return readUuid(key, offset);
    case "boolean":
      return readBoolean(key, offset);
  }
}

function readInteger(column: KeyColumn, key: Uint8Array, offset: number): KeyPart {
  const signedSize = key[offset]! - CODE_ZERO;
  const size = Math.abs(signedSize);
  if (size > LONGEST_INTEGER) return signedSize < 0 ? BELOW : ABOVE;
  // Missing bytes count as zeros: the lowest integer that begins with the given bytes.
  let value = 0n;
  for (let index = 1; index <= size; index++) value = (value << 8n) | BigInt(key[offset + index] ?? 0);
  let isValue = offset + 1 + size <= key.length;
  if (signedSize < 0) {
    value -= (1n << BigInt(8 * size)) - 1n;
    // Negative integers near zero are shorter, and so all of them are above these bytes.
    const lowestShorter = 1n - (1n << BigInt(8 * (size - 1)));
    if (value >= lowestShorter) {
      value = lowestShorter;
      isValue = false;
    }
  }
  if (column.kind === "time" || column.kind === "date") {
    const time = timeAtOrAbove(column.kind, value);
    if (time === undefined) return ABOVE;
    isValue &&= time === value;
    value = time;
  } else {
    const { min, max } = integerLimits(column);
    if (value < min) return BELOW;
    if (value > max) return ABOVE;
  }
  return isValue
    ? { kind: "Whole", value: String(value), next: offset + 1 + size }
    : { kind: "Partial", value: String(value) };
}

function readText(key: Uint8Array, offset: number): KeyPart {
  if (key[offset]! !== CODE_TEXT) return key[offset]! < CODE_TEXT ? BELOW : ABOVE;
  // Up to the first zero byte. PostgreSQL texts have none, so an escaped zero sorts after the text that ends here and before the next.
  const found = key.indexOf(0, offset + 1);
  const end = found === -1 ? key.length : found;
  const value = longestText(Buffer.from(key.subarray(offset + 1, end)));
  return found !== -1 && value.isAll
    ? { kind: "Whole", value: value.text, next: end + 1 }
    : { kind: "Partial", value: value.text };
}

/** The longest prefix of the bytes that is valid text. It sorts at or below the bytes. */
function longestText(bytes: Buffer): { readonly text: string; readonly isAll: boolean } {
  const decoded = bytes.toString("utf8");
  if (Buffer.from(decoded, "utf8").equals(bytes)) return { text: decoded, isAll: true };
  const text = decoded.slice(0, decoded.indexOf("\ufffd"));
  return { text, isAll: false };
}

function readBytes(key: Uint8Array, offset: number): KeyPart {
  if (key[offset]! !== CODE_BYTES) return key[offset]! < CODE_BYTES ? BELOW : ABOVE;
  const { content, next } = unescape(key, offset + 1);
  const value = Buffer.from(content).toString("hex");
  return next === undefined ? { kind: "Partial", value } : { kind: "Whole", value, next };
}

function readNumericBytes(key: Uint8Array, offset: number): KeyPart {
  if (key[offset]! !== CODE_BYTES) return key[offset]! < CODE_BYTES ? BELOW : ABOVE;
  const { content, next } = unescape(key, offset + 1);
  return readNumeric(Uint8Array.from(content), next !== undefined, next ?? 0);
}

/** The bytes of an element, and where the next element begins; `undefined` if the bytes run out before it ends. */
function unescape(key: Uint8Array, start: number): { readonly content: number[]; readonly next: number | undefined } {
  const content: number[] = [];
  for (let index = start; index < key.length; index++) {
    if (key[index] !== 0) {
      content.push(key[index]!);
    } else if (key[index + 1] === 0xff) {
      content.push(0);
      index++;
    } else {
      return { content, next: index + 1 };
    }
  }
  return { content, next: undefined };
}

function readUuid(key: Uint8Array, offset: number): KeyPart {
  if (key[offset]! !== CODE_UUID) return key[offset]! < CODE_UUID ? BELOW : ABOVE;
  const bytes = Buffer.alloc(UUID_SIZE);
  const next = offset + 1 + UUID_SIZE;
  bytes.set(key.subarray(offset + 1, next));
  const value = bytes.toString("hex");
  return next <= key.length ? { kind: "Whole", value, next } : { kind: "Partial", value };
}

function readBoolean(key: Uint8Array, offset: number): KeyPart {
  const code = key[offset]!;
  if (code === CODE_FALSE || code === CODE_TRUE)
    return { kind: "Whole", value: String(code === CODE_TRUE), next: offset + 1 };
  return code < CODE_FALSE ? BELOW : ABOVE;
}
