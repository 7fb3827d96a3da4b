import { Cursor } from "@gossip/contracts";

const ABSENT = 0;
const PRESENT = 1;

/** Bytes of the two marks and the two lengths. */
const FRAME_SIZE = 10;

/**
 * Put a tag and a cursor's canonical bytes into `out`, where they are hashed, and return how many they are;
 * `undefined`, and nothing put, where it has no room for them.
 *
 * The layout is that of `encodeCursorInto`, and a property test holds the two together.
 */
export function putCursorPayload(tag: Uint8Array, cursor: Cursor, out: Uint8Array): number | undefined {
  // Asks for a cursor by its right name, so that anything else is refused with a sentence.
  const isInitial = Cursor.isInitial(cursor);
  const { lastKey, token } = cursor;
  const keySize = isInitial ? 0 : lastKey!.length;
  const tokenSize = token === undefined ? 0 : token.length;
  if (tag.length + FRAME_SIZE + keySize + tokenSize > out.length) return undefined;

  out.set(tag);
  const end = putOptional(out, tag.length, isInitial ? undefined : lastKey);
  return putOptional(out, end, token);
}

function putOptional(out: Uint8Array, offset: number, bytes: Uint8Array | undefined): number {
  if (bytes === undefined) {
    out[offset] = ABSENT;
    return offset + 1;
  }
  const { length } = bytes;
  out[offset] = PRESENT;
  out[offset + 1] = length & 0xff;
  out[offset + 2] = length >>> 8;
  // A chunk has no room for a length that needs more.
  out[offset + 3] = 0;
  out[offset + 4] = 0;
  out.set(bytes, offset + 5);
  return offset + 5 + length;
}
