import { assert } from "@gossip/stdx";
import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";

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

export interface RunStatusCompanion extends PersistedEnum<RunStatus> {
  isTerminal(status: RunStatus): boolean;
}

export const RunStatus: RunStatusCompanion = {
  .../* @__PURE__ */ persistedEnum({ Initializing: 0, Active: 1, Done: 2, Failed: 3, Cancelled: 4 }),

  isTerminal(status) {
    assert(RunStatus.is(status), "run status must be Initializing, Active, Done, Failed or Cancelled");
    return status !== "Initializing" && status !== "Active";
  },
};
