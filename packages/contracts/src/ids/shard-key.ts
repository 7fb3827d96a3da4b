import { ok } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { JsonCodec } from "../json/json-codec.ts";
import { JsonReader } from "../json/json-reader.ts";
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

export interface ShardKeyCompanion extends JsonCodec<ShardKey, ShardKeyJson> {
  of(run: RunId, shard: ShardId): ShardKey;
  equals(a: ShardKey, b: ShardKey): boolean;
  /** `run/shard`, sixteen hex digits each: equal texts are equal keys, so it can be the key of a `Map`. */
  format(key: ShardKey): string;
}

export const ShardKey: ShardKeyCompanion = {
  of(run, shard) {
    assertU64(run, "run id");
    assertU64(shard, "shard id");
    return Object.freeze({ run, shard });
  },

  equals(a, b) {
    assertShardKey(a);
    assertShardKey(b);
    return a.shard === b.shard && a.run === b.run;
  },

  format(key) {
    assertShardKey(key);
    return `${formatU64(key.run)}/${formatU64(key.shard)}`;
  },

  toJson(key) {
    assertShardKey(key);
    return { run: formatU64(key.run), shard: formatU64(key.shard) };
  },

  fromJson(json) {
    const key = readShardKeyJson(json, "");
    return key.ok ? ok(ShardKey.of(key.value.run, key.value.shard)) : key;
  },
};

const readShardKeyJson = /* @__PURE__ */ JsonReader.object<ShardKey>({
  run: JsonReader.u64,
  shard: JsonReader.u64,
});

export function assertShardKey(key: unknown): asserts key is ShardKey {
  assertObject(key, "shard key");
  assertU64((key as ShardKey).run, "run id");
  assertU64((key as ShardKey).shard, "shard id");
}
