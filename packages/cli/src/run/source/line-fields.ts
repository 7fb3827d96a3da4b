import { isUtf8 } from "node:buffer";
import type { LineItem } from "@gossip/worker";

/** The offset of a line, and its text, or its bytes in base64url if they are not UTF-8. Hot: made twice for every line. */
export function lineFields({ offset, bytes }: LineItem): Record<string, unknown> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return isUtf8(bytes) ? { offset, line: buffer.toString("utf8") } : { offset, line64: buffer.toString("base64url") };
}
