import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";

/**
 * What a cursor means for the items up to its key. A label for the worker: the coordinator treats both alike.
 *
 * - `Completed`  — they are finished.
 * - `Dispatched` — they are durably handed to another system.
 */
export type CursorSemantics = "Completed" | "Dispatched";

export const CursorSemantics: PersistedEnum<CursorSemantics> = /* @__PURE__ */ persistedEnum({
  Completed: 0,
  Dispatched: 1,
});
