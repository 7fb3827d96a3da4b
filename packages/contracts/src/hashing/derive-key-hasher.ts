import { blake3 } from "@noble/hashes/blake3.js";
import { assertBytes } from "@gossip/stdx";
import { CHUNK_SIZE, ChunkHasher } from "./blake3-chunk.ts";
import { assertDomain } from "./domains.ts";

const DIGEST_SIZE = 32;

/** Hashes of one domain: BLAKE3 in derive-key mode. */
export interface DomainHasher {
  /** The whole digest. */
  hash32(message: Uint8Array): Uint8Array;
  /** The first eight bytes of the digest, read as a little-endian integer. */
  hash64(message: Uint8Array): bigint;
}

/**
 * Make a hasher for a domain. Make it once and keep it.
 *
 * Deriving the key costs as much as a hash of a short message, so it is done here,
 * once. A message of one chunk, as nearly all are, then takes the short path. The library
 * hashes longer ones, from a copy of the keyed state.
 */
export function deriveKeyHasher(domain: string): DomainHasher {
  assertDomain(domain);
  const context = new TextEncoder().encode(domain);
  const short = new ChunkHasher(context);
  const long = blake3.create({ context });
  const scratch = long.clone();
  const digest = new Uint8Array(DIGEST_SIZE);
  const view = new DataView(digest.buffer);
  const words = short.digest;

  /** Whether the digest was left in `words`, and not in `digest`. */
  function hash(message: Uint8Array): boolean {
    assertBytes(message, "message to hash");
    if (message.length > CHUNK_SIZE) {
      // Not `digestInto`: that also clears the hasher, which would have to be built again.
      long._cloneInto(scratch).update(message).xofInto(digest);
      return false;
    }
    short.chunk.set(message);
    short.hash(message.length);
    return true;
  }

  return {
    hash32(message) {
      if (hash(message)) for (const [index, word] of words.entries()) view.setInt32(4 * index, word, true);
      return digest.slice();
    },

    hash64(message) {
      if (hash(message)) {
        view.setInt32(0, words[0]!, true);
        view.setInt32(4, words[1]!, true);
      }
      return view.getBigUint64(0, true);
    },
  };
}
