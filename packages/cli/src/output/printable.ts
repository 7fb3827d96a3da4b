import { decodeUtf8 } from "@gossip/insight";

export { decodeUtf8, printable, printableText } from "@gossip/insight";

/**
 * A field with the bytes: as text under `name`, or in base64url under `name` with the suffix `64` if they are not
 * UTF-8.
 */
export function textField(name: string, bytes: Uint8Array): Record<string, string> {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return { [name]: text };
  return { [`${name}64`]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url") };
}
