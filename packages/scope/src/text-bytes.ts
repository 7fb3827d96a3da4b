import { assertBytes } from "@gossip/stdx";

/** A key or prefix: bytes, or text that stands for its UTF-8. */
export type Bytes = Uint8Array | string;

const encoder = new TextEncoder();

/** A copy of the bytes: later writes to the argument do not change it. */
export function copyBytes(bytes: Bytes, what: string): Uint8Array {
  if (typeof bytes === "string") return encoder.encode(bytes);
  assertBytes(bytes, what);
  return new Uint8Array(bytes);
}

/** The same bytes, or the UTF-8 of a text. Do not modify or keep the result. */
export function readBytes(bytes: Bytes, what: string): Uint8Array {
  if (typeof bytes === "string") return encoder.encode(bytes);
  assertBytes(bytes, what);
  return bytes;
}

/** Bytes as text, one UTF-16 unit per byte. Equal exactly if the bytes are equal, so it can be the key of a `Map`. */
export function prefixText(prefix: Uint8Array): string {
  let text = "";
  for (const byte of prefix) text += String.fromCharCode(byte);
  return text;
}

/** The bytes of a text from `prefixText`. */
export function textBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}
