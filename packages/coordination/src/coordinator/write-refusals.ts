import {
  coordError,
  InfraError,
  type BackendError,
  type ErrorOfKind,
  type Operation,
} from "@gossip/coordination-errors";
import type { CommitAnswer } from "../store/commit-answer.ts";

/** A write that a store refused for a reason that the caller must learn. */
export type WriteRefusal = Extract<CommitAnswer, { readonly kind: "LimitExceeded" | "Exists" | "Exhausted" }>;

/** The error of an operation that writes no bytes and creates nothing, if the store still has no room for it. */
export function noRoom(operation: Operation): BackendError {
  const reason = InfraError.transient({
    operation: `${operation}.commit`,
    message: "the store has no room for the write",
  });
  return coordError("BackendError", { reason });
}

/** The error of an operation that writes bytes. */
export function refuseForRoom(
  operation: Operation,
  refusal: WriteRefusal,
): ErrorOfKind<"ResourceExhausted" | "BackendError"> {
  if (refusal.kind !== "Exhausted") return noRoom(operation);
  return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
}

/** The error of a split: only the store can find these, when it writes. */
export function refuseSplit(refusal: WriteRefusal): ErrorOfKind<"SplitInvalid" | "ResourceExhausted"> {
  switch (refusal.kind) {
    case "LimitExceeded": {
      const { current, additional, max, scope } = refusal;
      return coordError("SplitInvalid", { reason: { kind: "ShardLimitExceeded", current, additional, max, scope } });
    }
    case "Exists":
      return coordError("SplitInvalid", { reason: { kind: "DerivedIdCollision", derivedId: refusal.shard } });
    case "Exhausted":
      return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
  }
}

/** The error of a registration of shards. */
export function refuseRegistration(
  refusal: WriteRefusal,
): ErrorOfKind<"ShardLimitExceeded" | "ResourceExhausted" | "ManifestInvalid"> {
  switch (refusal.kind) {
    case "LimitExceeded": {
      const { current, additional, max, scope } = refusal;
      return coordError("ShardLimitExceeded", { current, additional, max, scope });
    }
    case "Exhausted":
      return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
    case "Exists":
      // In a page before this one.
      return coordError("ManifestInvalid", { reason: { kind: "DuplicateIds", shardId: refusal.shard } });
  }
}

/** The error of an operation that creates no shards but was refused for them: the stored data contradicts itself. */
export function contradiction(operation: Operation): BackendError {
  const reason = InfraError.corruption({
    operation: `${operation}.commit`,
    message: "the store cannot hold what a run without shards asks for",
  });
  return coordError("BackendError", { reason });
}
