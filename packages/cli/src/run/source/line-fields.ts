import { isUtf8 } from "node:buffer";
import type { LineItem } from "@gossip/worker";

/** What a decoder puts in place of invalid bytes. A valid text may contain it, too. */
const REPLACEMENT = "\ufffd";

/** The offset of a line, and its text, or its bytes in base64url if they are not UTF-8. Hot: made twice for every line. */
export function lineFields(item: LineItem): Record<string, unknown> {
  const { offset, line } = item;
  // The bytes are looked at only if they may be invalid: a view of them costs more than the text.
  if (!line.includes(REPLACEMENT)) return { offset, line };
  const { bytes } = item;
  return isUtf8(bytes) ? { offset, line } : { offset, line64: Buffer.from(bytes).toString("base64url") };
}
