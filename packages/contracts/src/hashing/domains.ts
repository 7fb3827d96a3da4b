import { assert } from "@gossip/stdx";

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
