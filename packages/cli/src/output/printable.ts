<<<<<<< HEAD
import { decodeUtf8 } from "@gossip/insight";

export { decodeUtf8, printable, printableText } from "@gossip/insight";
=======
import { isUtf8 } from "node:buffer";

/** Control characters, and characters that change the direction of text or are invisible. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\]/gu;

/** The text of bytes that are UTF-8; `undefined` if they are not. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

/** Text that is safe to show in a terminal: it cannot move the cursor, ring the bell or imitate our own lines. */
export function printableText(text: string): string {
  return text.replaceAll(UNSAFE, (char) => (char === "\\" ? "\\\\" : escapeChar(char)));
}

/** Bytes as text that is safe to show; bytes that are not UTF-8 become `\xNN`. */
export function printable(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return printableText(text);
  let shown = "";
  for (const byte of bytes)
    shown +=
      byte >= 0x20 && byte < 0x7f
        ? byte === 0x5c
          ? "\\\\"
          : String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, "0")}`;
  return shown;
}

function escapeChar(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  const code = char.codePointAt(0)!;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
>>>>>>> 500d34f (cli: send items to long-lived processes with --pipe)

/**
 * A field with the bytes: as text under `name`, or in base64url under `name` with the suffix `64` if they are not
 * UTF-8.
 */
export function textField(name: string, bytes: Uint8Array): Record<string, string> {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return { [name]: text };
  return { [`${name}64`]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url") };
}
