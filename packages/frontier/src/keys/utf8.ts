/**
 * Bytes that `text` takes in UTF-8.
 *
 * If the code unit at some index is a lone surrogate, the text has no UTF-8, and the result is `-1 - index`. Counting
 * allocates nothing, so a text of any length can be refused cheaply.
 */
export function utf8Size(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      size += 1;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      size += 2;
    } else {
      if (unit > 0xdbff || !isLowSurrogate(text.charCodeAt(index + 1))) return -1 - index;
      // Two code units, four bytes.
      size += 2;
      index += 1;
    }
  }
  return size;
}

// `ignoreBOM` keeps a byte order mark, which is an ordinary character here.
const UTF8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes the bytes from `start` to `end`, or returns `undefined` if they are not UTF-8. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return UTF8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Returns false for `NaN`, which `charCodeAt` returns past the end of the text. */
function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
