import { assert, type Brand } from "@gossip/stdx";
import { u64Companion } from "./u64-companion.ts";
import { assertU64, U64_MAX } from "./u64.ts";

/**
 * Counts the acquisitions of a shard.
 *
 * Every acquisition raises it, and a write that presents an older one is refused: a worker that has lost its lease
 * unnoticed can do no harm.
 */
export type FenceEpoch = Brand<bigint, "FenceEpoch">;

export const FenceEpoch = {
  .../* @__PURE__ */ u64Companion<FenceEpoch>("fence epoch"),

  /** No epoch yet. No stored record has it. */
  ZERO: 0n as FenceEpoch,
  /** What a new record starts with; its first acquisition yields 2. */
  INITIAL: 1n as FenceEpoch,

  isAssigned(epoch: FenceEpoch): boolean {
    assertU64(epoch, "fence epoch");
    return epoch !== 0n;
  },

  /** The next epoch. Throws at the end of 64 bits: an epoch must never repeat. */
  increment(epoch: FenceEpoch): FenceEpoch {
    assertU64(epoch, "fence epoch");
    assert(epoch < U64_MAX, "fence epoch is at its maximum and cannot be raised");
    return (epoch + 1n) as FenceEpoch;
  },
} as const;
