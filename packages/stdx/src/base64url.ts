import { assert } from "./assert.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64URL = /^[A-Za-z0-9_-]*$/;

const DIGIT_OF = /* @__PURE__ */ digitTable();

/** Bytes as base64url text without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    // A byte past the end reads as 0. The digits that depend only on it are cut off below.
    const group = (bytes[index]! << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    text += digit(group >> 18) + digit(group >> 12) + digit(group >> 6) + digit(group);
  }
  return text.slice(0, Math.ceil((bytes.length * 4) / 3));
}

/** Decodes base64url text, or returns `undefined` if it is malformed. Every byte string has exactly one text. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!BASE64URL.test(text) || text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    bits = ((bits << 6) | DIGIT_OF[text.charCodeAt(index)]!) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[size++] = bits >> bitCount;
  }
  // Unused bits of the last digit must be 0, or several texts would decode to the same bytes.
  const spare = bits & ((1 << bitCount) - 1);
  if (spare !== 0) return undefined;
  assert(size === bytes.length, "base64url decoding filled its bytes");
  return bytes;
}

function digit(value: number): string {
  return ALPHABET[value & 63]!;
}

function digitTable(): Uint8Array {
  const table = new Uint8Array(128);
  for (let value = 0; value < ALPHABET.length; value++) table[ALPHABET.charCodeAt(value)] = value;
  return table;
}
