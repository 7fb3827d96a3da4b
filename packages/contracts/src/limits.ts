/** Largest key, in bytes, that a shard bound or a cursor may hold. */
export const MAX_KEY_SIZE = 4096;

/** Largest cursor token, in bytes. */
export const MAX_TOKEN_SIZE = 16_384;

/** Largest metadata, in bytes, that a shard spec may carry. */
export const MAX_METADATA_SIZE = 16_384;

/** Most shards that one manifest may register. */
export const MAX_INITIAL_SHARDS = 10_000;

/** Most children that one split may produce. */
export const MAX_SPLIT_CHILDREN = 256;

/** Most children and residuals that one shard may spawn over its whole life. */
export const MAX_SPAWNED_PER_SHARD = 1024;

/** Operations that a shard remembers for replay; the oldest is forgotten first. */
export const SHARD_OP_LOG_CAP = 16;

/** Operations that a run remembers for replay; the oldest is forgotten first. */
export const RUN_OP_LOG_CAP = 8;

/** Most entries that one shard builder may stage. */
export const MAX_BUILDER_ENTRIES = 1024;

/** Most specs that one `ShardArena` may have slots for. */
export const MAX_ARENA_SLOTS = 2 ** 20;

/** Shards that one tenant may have in a coordinator, by default. */
export const DEFAULT_MAX_SHARDS_PER_TENANT = 100_000;

/** Shards that a coordinator may hold in all, by default. */
export const DEFAULT_MAX_SHARDS_TOTAL = 1_000_000;

/** Size of a `TenantId`, in bytes. */
export const TENANT_ID_SIZE = 32;

/** Bit of a `ShardId` that only a split sets: a root id has it clear. */
export const DERIVED_SHARD_BIT = 1n << 63n;
