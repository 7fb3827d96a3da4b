/** Bytes as text, one unit a byte: equal exactly where the bytes are, so it can be the key of a `Map`. */
export function prefixText(prefix: Uint8Array): string {
  let text = "";
  for (const byte of prefix) text += String.fromCharCode(byte);
  return text;
}

/** The bytes of such a text. */
export function textBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}
