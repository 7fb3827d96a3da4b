import { isUtf8 } from "node:buffer";

const SLASH = 0x2f;

/** Join a folder and a path below it. */
export function joinPath(folder: Buffer, below: Uint8Array): Buffer {
  const separator = folder.length > 0 && folder[folder.length - 1] === SLASH ? 0 : 1;
  const joined = Buffer.allocUnsafe(folder.length + separator + below.length);
  joined.set(folder);
  if (separator === 1) joined[folder.length] = SLASH;
  joined.set(below, folder.length + separator);
  return joined;
}

/** The bytes as text, or `undefined` if they are not valid UTF-8. */
export function asText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8") : undefined;
}
