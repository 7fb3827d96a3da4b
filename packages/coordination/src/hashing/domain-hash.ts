import { deriveKeyHasher } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
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

/**
 * Where a message of one chunk is put to be hashed. One hash is made at a time and none waits, so
 * all of them share it.
 */
export const chunkBytes = /* @__PURE__ */ new Uint8Array(CHUNK_SIZE);

const chunkWords = /* @__PURE__ */ new DataView(chunkBytes.buffer);
const chain = /* @__PURE__ */ new Int32Array(CHAIN_WORDS);
const digest = /* @__PURE__ */ new DataView(new ArrayBuffer(8));

/** Hashes of a domain: the first eight bytes of a digest, read as a little-endian integer. */
export interface DomainHash64 {
  hash(message: Uint8Array): bigint;
  /** Hash what was put into the first `size` bytes of `chunkBytes`. Spoils what is behind them. */
  hashChunk(size: number): bigint;
}

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
  const context = new TextEncoder().encode(domain);
  chunkBytes.set(context);
  compressChunk(context.length, Int32Array.from(INITIAL_CHAIN), DERIVE_KEY_CONTEXT);
  const key = chain.slice();

  function hashChunk(size: number): bigint {
    assert(size <= CHUNK_SIZE, "a message that is hashed in place fits into a chunk");
    compressChunk(size, key, DERIVE_KEY_MATERIAL);
    digest.setInt32(0, chain[0]!, true);
    digest.setInt32(4, chain[1]!, true);
    return digest.getBigUint64(0, true);
  }

  return {
    hash(message) {
      if (message.length > CHUNK_SIZE) return library.hash64(message);
      chunkBytes.set(message);
      return hashChunk(message.length);
    },
    hashChunk,
  };
}

/** Hash the first `size` bytes of the chunk into `chain`. */
function compressChunk(size: number, key: Int32Array, mode: number): void {
  chain.set(key);
  // All blocks but the last are full. The last may be empty, where the message is; what it does not fill is zero.
  const last = size === 0 ? 0 : (size - 1) & -BLOCK_SIZE;
  chunkBytes.fill(0, size, last + BLOCK_SIZE);
  let flags = mode | CHUNK_START;
  for (let offset = 0; offset < last; offset += BLOCK_SIZE) {
    compressInto({ words: chunkWords, offset, size: BLOCK_SIZE, flags }, chain);
    flags = mode;
  }
  compressInto({ words: chunkWords, offset: last, size: size - last, flags: flags | CHUNK_END | ROOT }, chain);
}
