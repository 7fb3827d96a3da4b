import { ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { JsonReader, type InvalidField } from "../json/json-reader.ts";
import type { RunId } from "./run-id.ts";
import type { ShardId } from "./shard-id.ts";
import { assertU64, formatU64 } from "./u64.ts";

/**
 * Names a shard within its tenant.
 *
 * It has no order, by design: shards are ordered by their ranges.
 */
export interface ShardKey {
  readonly run: RunId;
  readonly shard: ShardId;
}

/** A shard key in JSON: ids as 16 hex digits. */
export interface ShardKeyJson {
  readonly run: string;
  readonly shard: string;
}

export const ShardKey = {
  of(run: RunId, shard: ShardId): ShardKey {
    assertU64(run, "run id");
    assertU64(shard, "shard id");
    return Object.freeze({ run, shard });
  },

  equals(a: ShardKey, b: ShardKey): boolean {
    assertShardKey(a);
    assertShardKey(b);
    return a.shard === b.shard && a.run === b.run;
  },

  /** `run/shard`, sixteen hex digits each: equal texts are equal keys, so it can be the key of a `Map`. */
  format(key: ShardKey): string {
    assertShardKey(key);
    return `${formatU64(key.run)}/${formatU64(key.shard)}`;
  },

  toJson(key: ShardKey): ShardKeyJson {
    assertShardKey(key);
    return { run: formatU64(key.run), shard: formatU64(key.shard) };
  },

  fromJson(json: unknown): Result<ShardKey, InvalidField> {
    const key = readShardKeyJson(json, "");
    return key.ok ? ok(ShardKey.of(key.value.run, key.value.shard)) : key;
  },
} as const;

const readShardKeyJson = /* @__PURE__ */ JsonReader.object<ShardKey>({
  run: JsonReader.u64,
  shard: JsonReader.u64,
});

export function assertShardKey(key: unknown): asserts key is ShardKey {
  assertObject(key, "shard key");
  assertU64((key as ShardKey).run, "run id");
  assertU64((key as ShardKey).shard, "shard id");
}
