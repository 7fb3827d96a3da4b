import { TENANT_ID_SIZE, TenantId, U64_MAX, type RunId, type ShardId } from "@gossip/contracts";
import { writeTenantId } from "@gossip/contracts/internal";
import { assert } from "@gossip/stdx";
import { HALVES, HIGH, LOW, WHOLE } from "@gossip/stdx/internal";
import type { RunAddress } from "@gossip/store-kit";

/**
 * What a row is, by the first byte of its key. All rows are in one tree, in this order:
 *
 * ```text
 * ┌──────────────┬──────────────────────────────────────────────┬───────────────────────────────┐
 * │ kind         │ rest of the key                              │ version · value               │
 * ├──────────────┼──────────────────────────────────────────────┼───────────────────────────────┤
 * │ Format       │                                              │ 0 · format u32                │
 * │ TotalCount   │                                              │ 0 · shards u64                │
 * │ TenantCount  │ tenant                                       │ 0 · shards u64                │
 * │ Counted      │                                              │ 0 · nothing                   │
 * ├──────────────┼──────────────────────────────────────────────┼───────────────────────────────┤
 * │ RunHead      │ tenant · run                                 │ the run's · nothing           │
 * │ RunRecord    │ tenant · run                                 │ the run's · record            │
 * │ RunCount     │ tenant · run                                 │ 0 · shards u64                │
 * │ Starved      │ tenant · run                                 │ 0 · time u64                  │
 * │ DeletedRun   │ tenant · run                                 │ 0 · mark                      │
 * │ Unswept      │ tenant · run                                 │ 0 · nothing                   │
 * │ Census       │ tenant · run                                 │ 0 · count u64 · digest u64    │
 * │ StatusCount  │ tenant · run · slot                          │ its own · three counts i64    │
 * ├──────────────┼──────────────────────────────────────────────┼───────────────────────────────┤
 * │ ShardRecord  │ tenant · run · shard                         │ the shard's · record          │
 * ├──────────────┼──────────────────────────────────────────────┼───────────────────────────────┤
 * │ Claim        │ tenant · run · deadline · begun · mix · shard│ 0 · nothing                   │
 * │ Status       │ tenant · run · status · shard                │ 0 · nothing                   │
 * │ Order        │ tenant · run · range start · shard           │ 0 · nothing                   │
 * ├──────────────┼──────────────────────────────────────────────┼───────────────────────────────┤
 * │ Note         │ tenant · run · space · key                   │ 0 · tail of the key · value   │
 * └──────────────┴──────────────────────────────────────────────┴───────────────────────────────┘
 * ```
 *
 * A tenant takes 32 bytes, ids and times 8, big-endian, so that the bytes sort like the values. `Claim`, `Status` and
 * `Order` are indexes, which can be rebuilt from the records.
 *
 * These numbers are stored. Add to them, and never change one.
 */
export const RowKind = {
  Format: 0x01,
  TotalCount: 0x02,
  TenantCount: 0x03,
  Counted: 0x04,
  RunHead: 0x10,
  RunRecord: 0x11,
  RunCount: 0x12,
  Starved: 0x13,
  DeletedRun: 0x14,
  Unswept: 0x15,
  Census: 0x16,
  StatusCount: 0x17,
  ShardRecord: 0x20,
  Claim: 0x30,
  Status: 0x31,
  Order: 0x32,
  Note: 0x40,
} as const;

export type RowKind = (typeof RowKind)[keyof typeof RowKind];

export const KIND_SIZE = 1;
export const U64_SIZE = 8;
const TENANT_END = KIND_SIZE + TENANT_ID_SIZE;
/** The size of the prefix of all rows of a run: kind, tenant and run. */
export const RUN_KEY_SIZE = TENANT_END + U64_SIZE;

/** The key of a row that exists once per store. */
export function storeKey(kind: RowKind): Buffer {
  return Buffer.of(kind);
}

export function tenantKey(kind: RowKind, tenant: TenantId): Buffer {
  const key = Buffer.allocUnsafe(TENANT_END);
  key[0] = kind;
  writeTenantId(tenant, key, KIND_SIZE);
  return key;
}

/** The key of a row that exists once per run, with room for `extraSize` more bytes. */
export function runKey(kind: RowKind, { tenant, run }: RunAddress, extraSize = 0): Buffer {
  const key = Buffer.allocUnsafe(RUN_KEY_SIZE + extraSize);
  key[0] = kind;
  writeTenantId(tenant, key, KIND_SIZE);
  writeU64(key, run, TENANT_END);
  return key;
}

export function shardRecordKey(address: RunAddress, shard: ShardId): Buffer {
  const key = runKey(RowKind.ShardRecord, address, U64_SIZE);
  writeU64(key, shard, RUN_KEY_SIZE);
  return key;
}

/** Writes an id or a time, so that keys sort like the numbers. */
export function writeU64(key: Uint8Array, value: bigint, offset: number): void {
  assert(
    typeof value === "bigint" && value >= 0n && value <= U64_MAX,
    "ids and times must be bigints from 0 to 2^64 - 1",
  );
  WHOLE[0] = value;
  writeU32(key, HALVES[HIGH]!, offset);
  writeU32(key, HALVES[LOW]!, offset + 4);
}

function writeU32(key: Uint8Array, value: number, offset: number): void {
  key[offset] = value >>> 24;
  key[offset + 1] = value >>> 16;
  key[offset + 2] = value >>> 8;
  key[offset + 3] = value;
}

/** The number at the end of a key. */
export function lastU64(key: Uint8Array): bigint {
  return readU64(key, key.length - U64_SIZE);
}

/** Throws a `RangeError` if there are too few bytes. */
export function readU64(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(offset);
}

/** The tenant of a row. Throws a `RangeError` if the key is too short, as in a damaged file. */
export function tenantOf(key: Uint8Array): TenantId {
  if (key.length < TENANT_END) throw new RangeError("the key of a row is too short for a tenant");
  return TenantId.fromBytes(key.subarray(KIND_SIZE, TENANT_END));
}

/** The run of a row. */
export function addressOf(key: Uint8Array): RunAddress {
  return { tenant: tenantOf(key), run: readU64(key, TENANT_END) as RunId };
}

/** The least key above every key with this prefix. A prefix of `ff` bytes alone has none, and no row has such a key. */
export function endOf(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let index = end.length - 1; index >= 0; index--) {
    if (end[index] !== 0xff) {
      end[index]! += 1;
      return end.subarray(0, index + 1);
    }
  }
  assert(false, "a prefix of keys must begin with the kind of a row");
}

/** The least key above `key`. */
export function keyAfter(key: Uint8Array): Buffer {
  const after = Buffer.alloc(key.length + 1);
  after.set(key);
  return after;
}
