import { Cursor } from "@gossip/contracts";
import { CHUNK_SIZE, chunkBytes } from "./domain-hash.ts";

const ABSENT = 0;
const PRESENT = 1;

/** Bytes of the two marks and the two lengths. */
const FRAME_SIZE = 10;

/**
 * Put a tag and a cursor's canonical bytes where a chunk is hashed, and return how many they are;
 * `undefined`, and nothing put, where they may be more than a chunk.
 *
 * The layout is that of `encodeCursorInto`, and a property test holds the two together.
 */
export function putCursorPayload(tag: Uint8Array, cursor: Cursor): number | undefined {
  // Asks for a cursor by its right name, so that anything else is refused with a sentence.
  const isInitial = Cursor.isInitial(cursor);
  const { lastKey, token } = cursor;
  const keySize = isInitial ? 0 : lastKey!.length;
  const tokenSize = token === undefined ? 0 : token.length;
  if (tag.length + FRAME_SIZE + keySize + tokenSize > CHUNK_SIZE) return undefined;

  const end = putOptional(put(tag, 0), isInitial ? undefined : lastKey);
  return putOptional(end, token);
}

function putOptional(offset: number, bytes: Uint8Array | undefined): number {
  if (bytes === undefined) {
    chunkBytes[offset] = ABSENT;
    return offset + 1;
  }
  const { length } = bytes;
  chunkBytes[offset] = PRESENT;
  chunkBytes[offset + 1] = length & 0xff;
  chunkBytes[offset + 2] = length >>> 8;
  // A chunk has no room for a length that needs more.
  chunkBytes[offset + 3] = 0;
  chunkBytes[offset + 4] = 0;
  return put(bytes, offset + 5);
}

function put(bytes: Uint8Array, offset: number): number {
  chunkBytes.set(bytes, offset);
  return offset + bytes.length;
}
