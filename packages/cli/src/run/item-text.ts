import { decodeUtf8 } from "../output/printable.ts";

/** Bytes under `name` where they are text; under `name` with `64` behind it, in base64url, where they are not. */
export function textField(name: string, bytes: Uint8Array): Record<string, string> {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return { [name]: text };
  return { [`${name}64`]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url") };
}
