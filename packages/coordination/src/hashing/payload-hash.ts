import {
  ParkReason,
  type Cursor,
  type InitialShardInput,
  type ShardKey,
  type SplitReplacePlan,
  type SplitResidualPlan,
} from "@gossip/contracts";
import {
  CanonicalWriter,
  deriveKeyHasher,
  DOMAINS,
  encodeCursorInto,
  encodeShardKeyInto,
  encodeShardSpecInto,
  encodeSplitReplacePlanInto,
  encodeSplitResidualPlanInto,
} from "@gossip/contracts/internal";
import { assert, type Brand } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/**
 * Hashes the payload of an operation into 64 bits. Never zero.
 *
 * Together with the op id it distinguishes a retry from another request. Tenant, worker, lease, fence and time are left
 * out: a retry may differ in all of them.
 */
export type PayloadHash = Brand<bigint, "PayloadHash">;

/**
 * A worker's statement that its range holds no more items.
 *
 * `complete` accepts it in place of a cursor, so that a range without items, which has no key to name, can be
 * completed. *Addition.*
 */
export const RANGE_EXHAUSTED: unique symbol = Symbol.for("@gossip/coordination/RANGE_EXHAUSTED");

/** Where a worker ended: at this cursor, or at the end of the range. */
export type CompletionPoint = Cursor | typeof RANGE_EXHAUSTED;

/** A cursor begins with 0 or 1, so this cannot be one. */
const EXHAUSTED_BYTE = 2;

/** Follows the shards of a page that is not the last. */
const MORE = /* @__PURE__ */ Uint8Array.of(1);

const TAGS = {
  checkpoint: ascii("checkpoint"),
  complete: ascii("complete"),
  park: ascii("park"),
  release: ascii("release"),
  splitReplace: ascii("split_replace"),
  splitResidual: ascii("split_residual"),
  unpark: ascii("unpark_shard"),
  registerShards: ascii("register_shards"),
  completeRun: ascii("complete_run"),
  failRun: ascii("fail_run"),
  cancelRun: ascii("cancel_run"),
} as const;

const payloads = /* @__PURE__ */ deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);
// One payload is built at a time and none waits, so all of them share this.
const out = /* @__PURE__ */ new CanonicalWriter();

export function checkpointHash(cursor: Cursor): PayloadHash {
  return cursorHash("checkpoint", cursor);
}

export function completeHash(point: CompletionPoint): PayloadHash {
  if (point !== RANGE_EXHAUSTED) return cursorHash("complete", point);
  begin("complete");
  out.u8(EXHAUSTED_BYTE);
  return finish();
}

function cursorHash(operation: "checkpoint" | "complete", cursor: Cursor): PayloadHash {
  begin(operation);
  encodeCursorInto(cursor, out);
  return finish();
}

export function parkHash(reason: ParkReason): PayloadHash {
  begin("park");
  out.u8(ParkReason.codes[reason]);
  return finish();
}

export function releaseHash(): PayloadHash {
  begin("release");
  return finish();
}

/** Does not depend on the order in which the children are listed. */
export function splitReplaceHash(plan: SplitReplacePlan): PayloadHash {
  begin("splitReplace");
  encodeSplitReplacePlanInto(plan, out);
  return finish();
}

export function splitResidualHash(plan: SplitResidualPlan): PayloadHash {
  begin("splitResidual");
  encodeSplitResidualPlanInto(plan, out);
  return finish();
}

export function unparkHash(key: ShardKey): PayloadHash {
  begin("unpark");
  encodeShardKeyInto(key, out);
  return finish();
}

/** Does not depend on the order in which the shards are listed. A page that more follow has another hash. */
export function registerShardsHash(shards: readonly InitialShardInput[], { more = false } = {}): PayloadHash {
  assert(Array.isArray(shards), () => `shards to register must be an array, got a value of type ${typeof shards}`);
  for (const input of shards) assertObject(input, "shard to register");
  const sorted = shards.toSorted((a, b) => (a.shard < b.shard ? -1 : a.shard > b.shard ? 1 : 0));
  begin("registerShards");
  out.u32(sorted.length);
  for (const { shard, spec, cursor } of sorted) {
    out.u64(shard);
    encodeShardSpecInto(spec, out);
    encodeCursorInto(cursor, out);
  }
  if (more) out.fixedBytes(MORE);
  return finish();
}

/** Leaves out the run, because each run has its own log. */
export function runTransitionHash(operation: "completeRun" | "failRun" | "cancelRun"): PayloadHash {
  begin(operation);
  return finish();
}

function begin(operation: keyof typeof TAGS): void {
  out.reset();
  out.fixedBytes(TAGS[operation]);
}

function finish(): PayloadHash {
  return assertHash(payloads.hash64(out.view()));
}

function assertHash(hash: bigint): PayloadHash {
  // One payload in 2^64 hashes to zero, which stands for a hash that was never computed.
  assert(hash !== 0n, "payload hash must not be zero");
  return hash as PayloadHash;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
