import { isUtf8 } from "node:buffer";

export { decodeUtf8, printable, printableText } from "@gossip/insight";

/**
 * A field with the bytes: as text under `name`, or in base64url under `name` with the suffix `64` if they are not
 * UTF-8. Hot: called twice for every item.
 */
export function textField(name: string, bytes: Uint8Array): Record<string, string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return isUtf8(bytes) ? { [name]: buffer.toString("utf8") } : { [`${name}64`]: buffer.toString("base64url") };
}
