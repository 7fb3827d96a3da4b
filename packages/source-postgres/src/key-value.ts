import { decodeTuple, encodeTuple, type TupleElement } from "@gossip/frontier";
import { MAX_KEY_SIZE } from "@gossip/contracts";
import type { KeyColumn, KeyKind } from "./key-column.ts";
import { decodeNumeric, encodeNumeric } from "./numeric-key.ts";
import { timeText } from "./time-key.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Most bytes of a text or of bytes in the key of a problem: fits even if every byte is escaped. */
const SHORTENED_SIZE = 1024;

/** A column of the key as a tuple element. */
export function elementOf({ kind }: KeyColumn, text: string): TupleElement {
  switch (kind) {
    case "integer":
    case "time":
    case "date":
      return BigInt(text);
    case "text":
      return text;
    case "uuid":
      return { kind: "Uuid", bytes: new Uint8Array(Buffer.from(text.replaceAll("-", ""), "hex")) };
    case "bytes":
      return new Uint8Array(Buffer.from(text, "hex"));
    case "boolean":
      return text === "true";
    case "numeric":
      return encodeNumeric(text);
  }
}

/** A selected value as an SQL parameter. */
export function parameterOf({ kind }: KeyColumn, text: string): string {
  return kind === "time" || kind === "date" ? timeText(kind, BigInt(text)) : text;
}

/** An element of a key for users. `kind` is that of its column, if it is known. */
function showElement(element: TupleElement, kind: KeyKind | undefined): string {
  const text = sqlTextOf(element, kind);
  if (text !== undefined) return text;
  if (typeof element === "bigint" || typeof element === "boolean") return String(element);
  if (typeof element === "string") return JSON.stringify(element);
  if (element instanceof Uint8Array) return `\\x${Buffer.from(element).toString("hex")}`;
  if (typeof element === "object" && element !== null && "kind" in element) {
    return Buffer.from(element.bytes)
      .toString("hex")
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }
  return JSON.stringify(element);
}

/** A key for users: its columns between parentheses. Bytes that are no tuple are shown in hexadecimal. */
export function describeTableKey(kinds: readonly KeyKind[], key: Uint8Array): string {
  const parts = decodeTuple(key);
  if (!parts.ok) return Buffer.from(key).toString("hex");
  return `(${parts.value.map((element, index) => showElement(element, kinds[index])).join(", ")})`;
}

/** A column of a key as SQL shows it, if its element does not: a time, a date or a numeric. */
export function sqlTextOf(element: TupleElement, kind: KeyKind | undefined): string | undefined {
  if (typeof element === "bigint" && (kind === "time" || kind === "date")) return timeText(kind, element);
  return element instanceof Uint8Array && kind === "numeric" ? decodeNumeric(element) : undefined;
}

/** The key of a row; `undefined` if it is too large. */
export function keyOf(columns: readonly KeyColumn[], texts: readonly string[]): Uint8Array | undefined {
  const encoded = encodeTuple(columns.map((column, index) => elementOf(column, texts[index]!)));
  return encoded.ok ? encoded.value : undefined;
}

/** A key slightly below that of a row whose own key is too large. */
export function shortenedKey(columns: readonly KeyColumn[], texts: readonly string[]): Uint8Array {
  const elements: TupleElement[] = [];
  for (const [index, column] of columns.entries()) {
    const text = texts[index]!;
    const { element, isShorter } = shortened(column, text);
    elements.push(element);
    if (isShorter) break;
  }
  const encoded = encodeTuple(elements);
  return encoded.ok ? encoded.value.subarray(0, MAX_KEY_SIZE) : NO_BYTES;
}

function shortened(column: KeyColumn, text: string): { readonly element: TupleElement; readonly isShorter: boolean } {
  if (column.kind === "numeric") {
    const bytes = encodeNumeric(text);
    return { element: bytes.subarray(0, SHORTENED_SIZE), isShorter: bytes.length > SHORTENED_SIZE };
  }
  const isShorter = text.length > SHORTENED_SIZE;
  return { element: elementOf(column, isShorter ? text.slice(0, SHORTENED_SIZE) : text), isShorter };
}
