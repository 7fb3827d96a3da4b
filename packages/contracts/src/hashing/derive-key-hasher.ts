import { blake3 } from "@noble/hashes/blake3.js";
import { assert, assertBytes } from "@gossip/stdx";
import { CHUNK_SIZE, ChunkHasher } from "./blake3-chunk.ts";

/**
 * What each hash is for. A domain is the context that BLAKE3 derives its key from, so that equal bytes under two
 * domains have unrelated hashes.
 *
 * A value never changes. If the hashed content changes, add a new name with the next version.
 */
export const DOMAINS = {
  /** Ids of the shards that a split creates. */
  SPLIT_ID_V1: "gossip/coord/v1/split-id",
  /** The payload of an operation, to tell a retry from a different request. */
  OP_PAYLOAD_V1: "gossip/coord/v1/op-payload",
} as const;

const DOMAIN_LENGTH = { min: 11, max: 64 } as const;

/** The rules for every domain, in this repository or elsewhere. */
export function assertDomain(domain: unknown): asserts domain is string {
  assert(typeof domain === "string", () => `domain must be a string, got a value of type ${typeof domain}`);
  const { min, max } = DOMAIN_LENGTH;
  assert(
    domain.length >= min && domain.length <= max,
    () => `domain must have ${min} to ${max} characters, got ${domain.length}`,
  );
  assert(/^[a-z0-9/-]*$/.test(domain), "domain must consist of lower-case letters, digits, '/' and '-'");
  assert(domain.startsWith("gossip/"), "domain must start with 'gossip/'");
  assert(/\/v[0-9]+(\/|$)/.test(domain), "domain must name its version, as in '/v1'");
}

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
 * Deriving the key costs as much as a hash of a short message, so it is done here, once. A message of one chunk, as
 * nearly all are, then takes the short path. The library hashes longer ones, from a copy of the keyed state.
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
