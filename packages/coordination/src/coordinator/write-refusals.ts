import {
  coordError,
  InfraError,
  type BackendError,
  type ErrorOfKind,
  type Operation,
} from "@gossip/coordination-errors";
import type { CommitAnswer } from "../store/commit-answer.ts";

/** A write that a store would not make, for a reason that the operation must tell its caller. */
export type WriteRefusal = Extract<CommitAnswer, { readonly kind: "LimitExceeded" | "Exists" | "Exhausted" }>;

/** What an operation answers that writes no bytes and creates nothing, where a store has no room for it all the same. */
export function noRoom(operation: Operation): BackendError {
  const reason = InfraError.transient({
    operation: `${operation}.commit`,
    message: "the store has no room for the write",
  });
  return coordError("BackendError", { reason });
}

/** How operations that write bytes tell that there is no room for them. */
export function refuseForRoom(
  operation: Operation,
): (refusal: WriteRefusal) => ErrorOfKind<"ResourceExhausted" | "BackendError"> {
  return (refusal) => {
    if (refusal.kind !== "Exhausted") return noRoom(operation);
    return coordError("ResourceExhausted", { resource: refusal.resource, slab: refusal.slab });
  };
}

/** How splits tell what a store finds only when it writes. */
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
