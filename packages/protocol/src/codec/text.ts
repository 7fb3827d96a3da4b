import * as base64Url from "@gossip/stdx/internal";

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = /* @__PURE__ */ new TextEncoder();
/** Bytes up to here are coded by hand: a `TextDecoder` or `TextEncoder` costs more a call. */
const SHORT = 64;
const ascii = /* @__PURE__ */ Buffer.alloc(SHORT);

/** Bytes as text, if they are UTF-8 and come back the same. */
export function textOf(bytes: Uint8Array): string | undefined {
  const short = bytes.length <= SHORT ? asciiOf(bytes) : undefined;
  if (short !== undefined) return short;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function asciiOf(bytes: Uint8Array): string | undefined {
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte > 0x7f) return undefined;
    ascii[index] = byte;
  }
  // In one piece: a text that grows by one character at a time is a chain of as many objects.
  return ascii.toString("latin1", 0, bytes.length);
}

/** UTF-8 bytes of a text. `undefined` if it holds a lone surrogate, which UTF-8 does not have. */
export function bytesOfText(text: string): Uint8Array | undefined {
  const short = text.length <= SHORT ? bytesOfAscii(text) : undefined;
  if (short !== undefined) return short;
  const bytes = encoder.encode(text);
  // The encoder writes U+FFFD for a lone surrogate, which is only an error if the text has none of its own.
  return LONE_SURROGATE.test(text) ? undefined : bytes;
}

function bytesOfAscii(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return undefined;
    bytes[index] = code;
  }
  return bytes;
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Bytes as base64url without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return base64Url.encodeBase64Url(bytes);
}

/** Bytes of a base64url text; `undefined` if it is not one. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  return base64Url.decodeBase64Url(text);
}
