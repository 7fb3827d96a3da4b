import { assert } from "@gossip/stdx";
import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";

/**
 * Where a run is in its life. It is always in one of these:
 *
 * - `Initializing` — created, and has no shards yet. Registering them makes it `Active`.
 * - `Active`       — its shards are worked on.
 * - `Done`         — completed. Nothing leaves it.
 * - `Failed`       — given up. Nothing leaves it.
 * - `Cancelled`    — called off, before or after it became active. Nothing leaves it.
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
