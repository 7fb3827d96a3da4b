import { assert } from "@gossip/stdx";

// Without these a terminal could be driven by an error message, and PostgreSQL could not show the text. Tabs and line
// ends stay.
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Text of a user's program as a note keeps it: at most `maxSize` bytes of UTF-8, cut between two characters, with control
 * characters and unpaired surrogates replaced.
 */
export function boundText(text: unknown, name: string, maxSize: number): string {
  assert(typeof text === "string", () => `${name} must be text, got ${typeof text}`);
  // A character takes at least one byte, so the rest could not be kept anyway.
  const bytes = encoder.encode(text.slice(0, maxSize).replace(CONTROL_CHARACTERS, " "));
  let end = Math.min(bytes.length, maxSize);
  while (end < bytes.length && isContinuation(bytes[end]!)) end--;
  return decoder.decode(bytes.subarray(0, end));
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
