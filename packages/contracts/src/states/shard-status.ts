import { assert } from "@gossip/stdx";
import { persistedEnum } from "./persisted-enum.ts";

/**
 * The state of a shard. It is always one of these:
 *
 * - `Active` — may be leased. `checkpoint`, `renew` and `release` keep it here; `splitResidual` too.
 * - `Done`   — finished. Final.
 * - `Split`  — its range belongs to its children. Final.
 * - `Parked` — set aside with a reason. Only `unpark` ends this, and raises the fence.
 */
export type ShardStatus = "Active" | "Done" | "Split" | "Parked";

export const ShardStatus = {
  .../* @__PURE__ */ persistedEnum({ Active: 0, Done: 1, Split: 2, Parked: 3 }),

  /** Whether no lease can be taken. `Parked` counts, though an operator may undo it. */
  isTerminal(status: ShardStatus): boolean {
    assert(ShardStatus.is(status), "shard status must be Active, Done, Split or Parked");
    return status !== "Active";
  },
} as const;
