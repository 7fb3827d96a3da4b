import { encodeTuple, type TupleElement } from "@gossip/frontier";
import { MAX_KEY_SIZE } from "@gossip/contracts";
import type { KeyColumn } from "./key-column.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Most bytes of a text or of bytes in the key of a problem: fits even if every byte is escaped. */
const SHORTENED_SIZE = 1024;

/** A column of the key as a tuple element. */
export function elementOf({ kind }: KeyColumn, text: string): TupleElement {
  switch (kind) {
    case "integer":
      return BigInt(text);
    case "text":
      return text;
    case "uuid":
      return { kind: "Uuid", bytes: new Uint8Array(Buffer.from(text.replaceAll("-", ""), "hex")) };
    case "bytes":
      return new Uint8Array(Buffer.from(text, "hex"));
    case "boolean":
      return text === "true";
  }
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
    elements.push(elementOf(column, text.length > SHORTENED_SIZE ? text.slice(0, SHORTENED_SIZE) : text));
    if (text.length > SHORTENED_SIZE) break;
  }
  const encoded = encodeTuple(elements);
  return encoded.ok ? encoded.value.subarray(0, MAX_KEY_SIZE) : NO_BYTES;
}
