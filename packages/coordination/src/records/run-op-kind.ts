import { type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";

/** The operations that a run remembers. */
export type RunOpKind = "RegisterShards" | "CompleteRun" | "FailRun" | "CancelRun";

export const RunOpKind: PersistedEnum<RunOpKind> = /* @__PURE__ */ persistedEnum({
  RegisterShards: 0,
  CompleteRun: 1,
  FailRun: 2,
  CancelRun: 3,
});
