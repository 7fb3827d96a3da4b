import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";

/** How a split made a shard: as one of the children that replace it, or as the part cut off its end. */
export type DerivedShardKind = "Child" | "Residual";

export const DerivedShardKind: PersistedEnum<DerivedShardKind> = /* @__PURE__ */ persistedEnum({
  Child: 0,
  Residual: 1,
});
