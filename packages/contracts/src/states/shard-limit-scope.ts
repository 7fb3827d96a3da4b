import { assert } from "@gossip/stdx";

/** Which quota of shards is exceeded. It is never stored, so it has no numbers. */
export type ShardLimitScope = "PerTenant" | "Global";

const WORDS: Readonly<Record<ShardLimitScope, string>> = { PerTenant: "per-tenant", Global: "global" };

export const ShardLimitScope = {
  values: /* @__PURE__ */ Object.freeze(["PerTenant", "Global"] as const),

  /** The scope in lower-case words. */
  toWords(scope: ShardLimitScope): string {
    assert(ShardLimitScope.is(scope), "shard limit scope must be PerTenant or Global");
    return WORDS[scope];
  },

  is(value: unknown): value is ShardLimitScope {
    return typeof value === "string" && Object.hasOwn(WORDS, value);
  },
} as const;
