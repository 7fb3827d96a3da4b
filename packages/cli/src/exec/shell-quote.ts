const QUOTE = 0x27;

/** `'\''`: close the quotes, an escaped quote, open them again. */
const ESCAPED_QUOTE = Uint8Array.of(QUOTE, 0x5c, QUOTE, QUOTE);

/**
 * Quote bytes as one word of a shell script: a shell does not interpret anything between single quotes. Returns
 * `undefined` for bytes with a zero byte, which no argument can contain.
 */
export function shellQuote(bytes: Uint8Array): Buffer | undefined {
  if (bytes.includes(0)) return undefined;
  let quoteCount = 0;
  for (const byte of bytes) if (byte === QUOTE) quoteCount++;
  const quoted = Buffer.allocUnsafe(bytes.length + 2 + quoteCount * (ESCAPED_QUOTE.length - 1));
  quoted[0] = QUOTE;
  quoted[quoted.length - 1] = QUOTE;
  if (quoteCount === 0) {
    quoted.set(bytes, 1);
    return quoted;
  }
  let at = 1;
  for (const byte of bytes) {
    if (byte === QUOTE) {
      quoted.set(ESCAPED_QUOTE, at);
      at += ESCAPED_QUOTE.length;
    } else quoted[at++] = byte;
  }
  return quoted;
}
