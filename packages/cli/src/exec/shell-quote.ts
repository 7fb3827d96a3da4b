const QUOTE = 0x27;

/** `'\''`: end the quotes, a quote by itself, begin them again. */
const ESCAPED_QUOTE = Uint8Array.of(QUOTE, 0x5c, QUOTE, QUOTE);

/**
 * Bytes as one word of a shell's script, whatever they are: a shell takes everything between single quotes as it
 * stands. Only a zero byte has no place in an argument; `undefined` where there is one.
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
