import type { Brand } from "@gossip/stdx";
import { u64Companion, type U64Companion } from "./u64-companion.ts";

/**
 * Identifies one attempt to change something, over all its retries.
 *
 * Two different changes of one shard must never share an id: the second would be
 * refused as a conflict. So it comes from `random`, or from a counter that all
 * callers share.
 */
export type OpId = Brand<bigint, "OpId">;

export interface OpIdCompanion extends U64Companion<OpId> {
  /** A fresh id from the platform's secure random source, never 0. */
  random(): OpId;
}

export const OpId: OpIdCompanion = {
  .../* @__PURE__ */ u64Companion<OpId>("op id"),

  // One draw a call and no pool of spare values: a forked or snapshotted process
  // would hand out its parent's ids again.
  random() {
    const draw = new BigUint64Array(1);
    do globalThis.crypto.getRandomValues(draw);
    while (draw[0] === 0n);
    return draw[0] as OpId;
  },
};
