import { assert } from "@gossip/stdx";

/** Which quota of shards is exceeded. It is never stored, so it has no numbers. */
export type ShardLimitScope = "PerTenant" | "Global";

const WORDS: Readonly<Record<ShardLimitScope, string>> = { PerTenant: "per-tenant", Global: "global" };

export interface ShardLimitScopeCompanion {
  readonly values: readonly ShardLimitScope[];
  /** The scope in lower-case words. */
  toWords(scope: ShardLimitScope): string;
  is(value: unknown): value is ShardLimitScope;
}

export const ShardLimitScope: ShardLimitScopeCompanion = {
  values: /* @__PURE__ */ Object.freeze(["PerTenant", "Global"] as const),

  toWords(scope) {
    assert(ShardLimitScope.is(scope), "shard limit scope must be PerTenant or Global");
    return WORDS[scope];
  },

  is(value): value is ShardLimitScope {
    return typeof value === "string" && Object.hasOwn(WORDS, value);
  },
};
