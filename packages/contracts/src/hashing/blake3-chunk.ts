import { compressInto } from "./blake3-compress.ts";

/** BLAKE3's flags for the position of a compression in the hash. */
const CHUNK_START = 1;
const CHUNK_END = 2;
const ROOT = 8;
const DERIVE_KEY_CONTEXT = 32;
const DERIVE_KEY_MATERIAL = 64;

/** Bytes of one block. */
const BLOCK_SIZE = 64;

/** Words of a chaining value. */
const CHAIN_WORDS = 8;

/** BLAKE3's initial chaining value, which is SHA-256's. */
const INITIAL_CHAIN: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/** Largest message, in bytes, that is one chunk. A longer one is a tree of chunks. */
export const CHUNK_SIZE = 1024;

/**
 * BLAKE3 in derive-key mode of messages that are one chunk, up to 1024 bytes.
 *
 * The library takes several times as long for the short messages of checkpoints, and allocates several kilobytes per
 * call until it is compiled. A single chunk needs no tree, so this is short. Tests compare it with the library at every
 * length.
 */
export class ChunkHasher {
  /** Write the message here before you call `hash`. */
  readonly chunk: Uint8Array = new Uint8Array(CHUNK_SIZE);
  /** The first 32 bytes of the last hash, as eight little-endian words. */
  readonly digest: Int32Array = new Int32Array(CHAIN_WORDS);
  readonly #words = new DataView(this.chunk.buffer);
  readonly #key: Int32Array;

  /** `context` must fit into a chunk. */
  constructor(context: Uint8Array) {
    this.chunk.set(context);
    this.#compress(context.length, Int32Array.from(INITIAL_CHAIN), DERIVE_KEY_CONTEXT);
    this.#key = this.digest.slice();
  }

  /** Hash the first `size` bytes of `chunk` into `digest`. Overwrites the bytes behind them. */
  hash(size: number): void {
    this.#compress(size, this.#key, DERIVE_KEY_MATERIAL);
  }

  #compress(size: number, key: Int32Array, mode: number): void {
    const { digest: chain } = this;
    chain.set(key);
    // All blocks but the last are full. The last one is padded with zeros, and is empty for an empty message.
    const last = size === 0 ? 0 : (size - 1) & -BLOCK_SIZE;
    this.chunk.fill(0, size, last + BLOCK_SIZE);
    let flags = mode | CHUNK_START;
    for (let offset = 0; offset < last; offset += BLOCK_SIZE) {
      compressInto(this.#words, offset, BLOCK_SIZE, flags, chain);
      flags = mode;
    }
    compressInto(this.#words, last, size - last, flags | CHUNK_END | ROOT, chain);
  }
}
