const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Control characters, and characters that change the direction of text or are invisible. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\]/gu;

/** The text of bytes that are UTF-8; `undefined` if they are not. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
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
