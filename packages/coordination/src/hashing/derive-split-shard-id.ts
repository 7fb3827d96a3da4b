import { DERIVED_SHARD_BIT, DerivedShardKind, type OpId, type RunId, type ShardId } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";
import { CanonicalWriter, deriveKeyHasher, DOMAINS } from "@gossip/contracts/internal";

/** The inputs of the id of a shard that a split creates. */
export interface DerivedShard {
  readonly run: RunId;
  readonly parent: ShardId;
  /** The split that creates it. */
  readonly opId: OpId;
  readonly kind: DerivedShardKind;
  /** Its index in the parent's list of spawned shards, which differs from its index in a plan. */
  readonly index: number;
}

const splitIds = /* @__PURE__ */ deriveKeyHasher(DOMAINS.SPLIT_ID_V1);
const out = /* @__PURE__ */ new CanonicalWriter();

/**
 * Returns the id of a shard that a split creates.
 *
 * It is derived, not drawn at random, so that a split that is executed twice, by a retry or by two coordinators at
 * once, names the same shards.
 */
export function deriveSplitShardId(derived: DerivedShard): ShardId {
  assertObject(derived, "what a derived id depends on");
  out.reset();
  out.u64(derived.run);
  out.u64(derived.parent);
  out.u64(derived.opId);
  out.u8(DerivedShardKind.codes[derived.kind]);
  out.u32(derived.index);
  return (splitIds.hash64(out.view()) | DERIVED_SHARD_BIT) as ShardId;
}
