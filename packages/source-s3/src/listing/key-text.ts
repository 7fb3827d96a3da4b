import { compareBytes } from "@gossip/stdx";

const ENCODER = new TextEncoder();
const HIGHEST = 0x10_ffff;
/** The last character that every server takes. Keys have it rarely. */
const HIGH = "\u{10fffd}";
const HIGH_SIZE = 4;
/** Of an object, in bytes. */
const MAX_KEY_SIZE = 1024;
const SURROGATES = { first: 0xd800, last: 0xdfff };

export function keyBytes(key: string): Uint8Array {
  return ENCODER.encode(key);
}

/**
 * The least text whose UTF-8 is not below `bytes`, or `undefined` if there is none.
 *
 * Bounds of ranges are any bytes, because ranges are cut by arithmetic, but a listing can only begin at a text. Code
 * points are ordered like their UTF-8, so the first character that is not below the remaining bytes can be searched for.
 */
export function leastTextFrom(bytes: Uint8Array): string | undefined {
  const characters = Array.from(decodable(bytes));
  const rest = bytes.subarray(keyBytes(characters.join("")).length);
  if (rest.length === 0) return characters.join("");
  const next = leastCodePointFrom(rest);
  if (next !== undefined) return characters.join("") + String.fromCodePoint(next);
  // Nothing with these characters in front is above: go on behind the last of them that has a successor.
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const codePoint = last.codePointAt(0)!;
    if (codePoint < HIGHEST) return characters.join("") + String.fromCodePoint(skipSurrogates(codePoint + 1));
  }
  return undefined;
}

/**
 * A text below `text` with hardly any key between the two. A listing begins after a key and cannot begin with it, so it
 * begins after this one.
 */
export function textBelow(text: string): string {
  const characters = Array.from(text);
  const last = characters.pop()?.codePointAt(0) ?? 0;
  const before = characters.join("");
  // Right behind a key, which is how a reading that goes on begins.
  if (last === 0) return before;
  const lower = last - 1 === SURROGATES.last ? SURROGATES.first - 1 : last - 1;
  const below = before + String.fromCodePoint(lower);
  return keyBytes(below).length <= MAX_KEY_SIZE - HIGH_SIZE ? below + HIGH : below;
}

/** The longest beginning of `bytes` that is UTF-8, as text. */
function decodable(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  // What cannot be decoded becomes U+FFFD, which may also be there by itself: compare with what was given.
  let length = 0;
  let size = 0;
  for (const character of text) {
    const encoded = keyBytes(character);
    if (compareBytes(encoded, bytes.subarray(size, size + encoded.length)) !== 0) break;
    size += encoded.length;
    length += character.length;
  }
  return text.slice(0, length);
}

function leastCodePointFrom(bytes: Uint8Array): number | undefined {
  let [low, high] = [0, HIGHEST + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(keyBytes(String.fromCodePoint(skipSurrogates(middle))), bytes) >= 0) high = middle;
    else low = middle + 1;
  }
  return low > HIGHEST ? undefined : skipSurrogates(low);
}

/** Halves of characters are no characters: the next one is meant. */
function skipSurrogates(codePoint: number): number {
  return codePoint >= SURROGATES.first && codePoint <= SURROGATES.last ? SURROGATES.last + 1 : codePoint;
}
