import { createHash } from "node:crypto";
import type { Frame } from "./staging.ts";

/** A frame as it is sent: a line of JSON with its place and its checksum, then its bytes. */
export function encodeFrameMessage({ id, index, bytes }: Frame): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ id, index, sha256: checksum(bytes) })}\n`), bytes]);
}

/** The frame of a message; `undefined` if anything of it was changed on the way. */
export function decodeFrameMessage(message: Buffer): Frame | undefined {
  const end = message.indexOf("\n");
  try {
    const { id, index, sha256 } = JSON.parse(message.toString("utf8", 0, end)) as Record<string, unknown>;
    const bytes = message.subarray(end + 1);
    const isWhole = typeof id === "string" && Number.isSafeInteger(index) && sha256 === checksum(bytes);
    return end >= 0 && isWhole ? { id, index: index as number, bytes } : undefined;
  } catch {
    return undefined;
  }
}

function checksum(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
