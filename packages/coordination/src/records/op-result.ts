import { type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";

/**
 * How a logged operation ended. Only `Completed` is ever written: a refusal changes nothing and is not logged, so its
 * op id may be used again.
 */
export type OpResult = "Completed" | "Error" | "Superseded";

export const OpResult: PersistedEnum<OpResult> = /* @__PURE__ */ persistedEnum({
  Completed: 0,
  Error: 1,
  Superseded: 2,
});
