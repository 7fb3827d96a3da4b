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

/**
 * Writes the UTF-8 of `text` into `out` until at least `size` bytes are written or the text ends.
 *
 * Returns the number of bytes written: up to three more than `size`, so `out` must have room for
 * `size + 3`. A lone surrogate becomes U+FFFD, as with `TextEncoder`.
 *
 * Hot: allocates nothing. `TextEncoder.encodeInto` would return an object.
 */
export function encodeHeadInto(text: string, size: number, out: Uint8Array): number {
  let at = 0;
  for (let index = 0; index < text.length && at < size; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      out[at++] = unit;
      continue;
    }
    // Two units only for a real pair; then the second one is skipped.
    const point = text.codePointAt(index)!;
    if (point > 0xffff) index++;
    at = encodePointInto(point >= 0xd800 && point <= 0xdfff ? 0xfffd : point, at, out);
  }
  return at;
}

function encodePointInto(point: number, start: number, out: Uint8Array): number {
  let at = start;
  if (point < 0x800) {
    out[at++] = 0xc0 | (point >> 6);
  } else {
    if (point < 0x10000) {
      out[at++] = 0xe0 | (point >> 12);
    } else {
      out[at++] = 0xf0 | (point >> 18);
      out[at++] = 0x80 | ((point >> 12) & 0x3f);
    }
    out[at++] = 0x80 | ((point >> 6) & 0x3f);
  }
  out[at++] = 0x80 | (point & 0x3f);
  return at;
}
