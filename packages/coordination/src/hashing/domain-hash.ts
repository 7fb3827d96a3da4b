import { deriveKeyHasher } from "@gossip/contracts";
import {
  BLOCK_SIZE,
  CHAIN_WORDS,
  CHUNK_END,
  CHUNK_START,
  compressInto,
  DERIVE_KEY_CONTEXT,
  DERIVE_KEY_MATERIAL,
  INITIAL_CHAIN,
  ROOT,
} from "./blake3-compress.ts";

/** Bytes that one BLAKE3 chunk holds. A longer message becomes a tree, which is left to the library. */
export const CHUNK_SIZE = 1024;

// One hash runs at a time and none waits, so all of them share these.
const block = /* @__PURE__ */ new Uint8Array(BLOCK_SIZE);
const blockWords = /* @__PURE__ */ new DataView(block.buffer);
const chain = /* @__PURE__ */ new Int32Array(CHAIN_WORDS);
const digest = /* @__PURE__ */ new DataView(new ArrayBuffer(8));

/** The hash of a message: the first eight bytes of its digest, read as a little-endian integer. */
export type DomainHash64 = (message: Uint8Array) => bigint;

/**
 * Make the hash of a domain: BLAKE3 in derive-key mode, as `deriveKeyHasher` of
 * `@gossip/contracts` computes it.
 *
 * That one costs more than everything else in a checkpoint together, so a message
 * of one chunk, which nearly every payload is, is hashed here, about ten times
 * as fast. Property tests hold the two together.
 */
export function domainHash64(domain: string): DomainHash64 {
  const library = deriveKeyHasher(domain);
  const key = hashChunk(new TextEncoder().encode(domain), Int32Array.from(INITIAL_CHAIN), DERIVE_KEY_CONTEXT).slice();

  return (message) => {
    if (message.length > CHUNK_SIZE) return library.hash64(message);
    hashChunk(message, key, DERIVE_KEY_MATERIAL);
    digest.setInt32(0, chain[0]!, true);
    digest.setInt32(4, chain[1]!, true);
    return digest.getBigUint64(0, true);
  };
}

/** Hash up to one chunk. The result is borrowed: the next hash overwrites it. */
function hashChunk(message: Uint8Array, key: Int32Array, mode: number): Int32Array {
  chain.set(key);
  let offset = 0;
  let flags = mode | CHUNK_START;
  // All blocks but the last are full. The last may be empty, where the message is.
  for (; message.length - offset > BLOCK_SIZE; offset += BLOCK_SIZE) {
    fillBlock(message, offset);
    compressInto({ words: blockWords, size: BLOCK_SIZE, flags }, chain);
    flags = mode;
  }
  fillBlock(message, offset);
  compressInto({ words: blockWords, size: message.length - offset, flags: flags | CHUNK_END | ROOT }, chain);
  return chain;
}

// A loop, because `set` would need a view of the part, which costs more than copying it.
function fillBlock(message: Uint8Array, offset: number): void {
  const size = Math.min(BLOCK_SIZE, message.length - offset);
  for (let index = 0; index < size; index++) block[index] = message[offset + index]!;
  block.fill(0, size);
}
