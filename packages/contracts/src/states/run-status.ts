import { assert } from "@gossip/stdx";
import { persistedEnum } from "./persisted-enum.ts";

/**
 * The state of a run. It is always one of these:
 *
 * - `Initializing` — created, and has no shards yet. Registering them makes it `Active`.
 * - `Active`       — its shards are worked on.
 * - `Done`         — completed. Final.
 * - `Failed`       — ended as failed. Final.
 * - `Cancelled`    — ended early, before or after it became active. Final.
 */
export type RunStatus = "Initializing" | "Active" | "Done" | "Failed" | "Cancelled";

export const RunStatus = {
  .../* @__PURE__ */ persistedEnum({ Initializing: 0, Active: 1, Done: 2, Failed: 3, Cancelled: 4 }),

  isTerminal(status: RunStatus): boolean {
    assert(RunStatus.is(status), "run status must be Initializing, Active, Done, Failed or Cancelled");
    return status !== "Initializing" && status !== "Active";
  },
} as const;
