const BLOCK_SIZE = 64;
const WORDS_PER_BLOCK = 16;

/** Largest message, in bytes, that is one chunk. A longer one is a tree of chunks. */
export const CHUNK_SIZE = 1024;

/** What a hash is for; part of every compression. */
export const MODE = { deriveKeyContext: 1 << 5, deriveKeyMaterial: 1 << 6 } as const;

const CHUNK_START = 1 << 0;
const CHUNK_END = 1 << 1;
const ROOT = 1 << 3;

/** The key of a hash that has none. */
export const INITIAL_KEY: Int32Array = /* @__PURE__ */ Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

/** Which word of the block each step of the seven rounds takes. */
const SCHEDULE = /* @__PURE__ */ messageSchedule();

/**
 * BLAKE3 of messages that are one chunk, up to 1024 bytes.
 *
 * The library's hash takes four times as long on the short messages that
 * checkpoints are, and leaves several kilobytes of garbage a call until it is
 * compiled. A single chunk needs none of the tree that most of BLAKE3 is about, so
 * this is small; the tests hold it to the library at every length.
 */
export class ChunkHasher {
  readonly #key: Int32Array;
  readonly #mode: number;
  readonly #state = new Int32Array(8);
  readonly #block = new Uint8Array(BLOCK_SIZE);
  readonly #blockView = new DataView(this.#block.buffer);
  readonly #words = new Int32Array(WORDS_PER_BLOCK);

  constructor(options: { readonly key: Int32Array; readonly mode: number }) {
    this.#key = options.key;
    this.#mode = options.mode;
  }

  /** Write the first 32 bytes of the hash into `out`, as eight little-endian words. */
  hashInto(message: Uint8Array, out: Int32Array): void {
    const state = this.#state;
    state.set(this.#key);
    let flags = this.#mode | CHUNK_START;
    let start = 0;
    while (message.length - start > BLOCK_SIZE) {
      this.#loadBlock(message, start);
      compress(state, this.#words, BLOCK_SIZE, flags);
      flags = this.#mode;
      start += BLOCK_SIZE;
    }
    this.#loadBlock(message, start);
    compress(state, this.#words, message.length - start, flags | CHUNK_END | ROOT);
    out.set(state);
  }

  /** Take up to 64 bytes of the message, and zeros behind its end. */
  #loadBlock(message: Uint8Array, start: number): void {
    // A loop: `set` would need a view of the message, and that costs more than copying 64 bytes.
    const size = Math.min(message.length - start, BLOCK_SIZE);
    for (let index = 0; index < size; index++) this.#block[index] = message[start + index]!;
    for (let index = size; index < BLOCK_SIZE; index++) this.#block[index] = 0;
    for (let index = 0; index < WORDS_PER_BLOCK; index++) this.#words[index] = this.#blockView.getInt32(4 * index, true);
  }
}

/**
 * Mix a block into `state`. The counter of a single chunk is zero.
 *
 * Sixteen locals and not an array: they stay in registers, which makes this twice as
 * fast. Each pair of lines is one quarter round; first the columns, then the diagonals.
 */
function compress(state: Int32Array, words: Int32Array, blockSize: number, flags: number): void {
  let v0 = state[0]!, v1 = state[1]!, v2 = state[2]!, v3 = state[3]!;
  let v4 = state[4]!, v5 = state[5]!, v6 = state[6]!, v7 = state[7]!;
  let v8 = INITIAL_KEY[0]!, v9 = INITIAL_KEY[1]!, v10 = INITIAL_KEY[2]!, v11 = INITIAL_KEY[3]!;
  let v12 = 0, v13 = 0, v14 = blockSize, v15 = flags;

  for (let step = 0; step < SCHEDULE.length; ) {
    v0 = (v0 + v4 + words[SCHEDULE[step++]!]!) | 0; v12 = rotateRight(v12 ^ v0, 16); v8 = (v8 + v12) | 0; v4 = rotateRight(v4 ^ v8, 12);
    v0 = (v0 + v4 + words[SCHEDULE[step++]!]!) | 0; v12 = rotateRight(v12 ^ v0, 8); v8 = (v8 + v12) | 0; v4 = rotateRight(v4 ^ v8, 7);
    v1 = (v1 + v5 + words[SCHEDULE[step++]!]!) | 0; v13 = rotateRight(v13 ^ v1, 16); v9 = (v9 + v13) | 0; v5 = rotateRight(v5 ^ v9, 12);
    v1 = (v1 + v5 + words[SCHEDULE[step++]!]!) | 0; v13 = rotateRight(v13 ^ v1, 8); v9 = (v9 + v13) | 0; v5 = rotateRight(v5 ^ v9, 7);
    v2 = (v2 + v6 + words[SCHEDULE[step++]!]!) | 0; v14 = rotateRight(v14 ^ v2, 16); v10 = (v10 + v14) | 0; v6 = rotateRight(v6 ^ v10, 12);
    v2 = (v2 + v6 + words[SCHEDULE[step++]!]!) | 0; v14 = rotateRight(v14 ^ v2, 8); v10 = (v10 + v14) | 0; v6 = rotateRight(v6 ^ v10, 7);
    v3 = (v3 + v7 + words[SCHEDULE[step++]!]!) | 0; v15 = rotateRight(v15 ^ v3, 16); v11 = (v11 + v15) | 0; v7 = rotateRight(v7 ^ v11, 12);
    v3 = (v3 + v7 + words[SCHEDULE[step++]!]!) | 0; v15 = rotateRight(v15 ^ v3, 8); v11 = (v11 + v15) | 0; v7 = rotateRight(v7 ^ v11, 7);
    v0 = (v0 + v5 + words[SCHEDULE[step++]!]!) | 0; v15 = rotateRight(v15 ^ v0, 16); v10 = (v10 + v15) | 0; v5 = rotateRight(v5 ^ v10, 12);
    v0 = (v0 + v5 + words[SCHEDULE[step++]!]!) | 0; v15 = rotateRight(v15 ^ v0, 8); v10 = (v10 + v15) | 0; v5 = rotateRight(v5 ^ v10, 7);
    v1 = (v1 + v6 + words[SCHEDULE[step++]!]!) | 0; v12 = rotateRight(v12 ^ v1, 16); v11 = (v11 + v12) | 0; v6 = rotateRight(v6 ^ v11, 12);
    v1 = (v1 + v6 + words[SCHEDULE[step++]!]!) | 0; v12 = rotateRight(v12 ^ v1, 8); v11 = (v11 + v12) | 0; v6 = rotateRight(v6 ^ v11, 7);
    v2 = (v2 + v7 + words[SCHEDULE[step++]!]!) | 0; v13 = rotateRight(v13 ^ v2, 16); v8 = (v8 + v13) | 0; v7 = rotateRight(v7 ^ v8, 12);
    v2 = (v2 + v7 + words[SCHEDULE[step++]!]!) | 0; v13 = rotateRight(v13 ^ v2, 8); v8 = (v8 + v13) | 0; v7 = rotateRight(v7 ^ v8, 7);
    v3 = (v3 + v4 + words[SCHEDULE[step++]!]!) | 0; v14 = rotateRight(v14 ^ v3, 16); v9 = (v9 + v14) | 0; v4 = rotateRight(v4 ^ v9, 12);
    v3 = (v3 + v4 + words[SCHEDULE[step++]!]!) | 0; v14 = rotateRight(v14 ^ v3, 8); v9 = (v9 + v14) | 0; v4 = rotateRight(v4 ^ v9, 7);
  }

  state[0] = v0 ^ v8;
  state[1] = v1 ^ v9;
  state[2] = v2 ^ v10;
  state[3] = v3 ^ v11;
  state[4] = v4 ^ v12;
  state[5] = v5 ^ v13;
  state[6] = v6 ^ v14;
  state[7] = v7 ^ v15;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function messageSchedule(): Uint8Array {
  const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
  let round = permutation.map((_, index) => index);
  const schedule: number[] = [];
  for (let count = 0; count < 7; count++) {
    schedule.push(...round);
    round = permutation.map((from) => round[from]!);
  }
  return Uint8Array.from(schedule);
}
