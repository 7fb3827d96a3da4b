import type { ShardRecord, Versioned } from "@gossip/coordination";
import { shardVersion } from "./record-version.ts";
import { decodeShard, type RunAddress } from "./rows.ts";
import { U64_SIZE } from "./u64-bytes.ts";

const SIZE_SIZE = 4;
const TWO_TO_32 = 2 ** 32;

/** Shards of one run that a statement has packed into one value: of each its version, its id, the size of its record, and that. */
export function packedShards(address: RunAddress & { readonly runId: number }, packed: Buffer): Versioned<ShardRecord>[] {
  const shards: Versioned<ShardRecord>[] = [];
  let place = 0;
  while (place < packed.length) {
    const version = packed.readUInt32BE(place) * TWO_TO_32 + packed.readUInt32BE(place + SIZE_SIZE);
    const shard = packed.subarray(place + U64_SIZE, place + 2 * U64_SIZE);
    const start = place + 2 * U64_SIZE + SIZE_SIZE;
    place = start + packed.readUInt32BE(start - SIZE_SIZE);
    shards.push({ record: decodeShard(address, { shard, record: packed.subarray(start, place) }), version: shardVersion({ runId: address.runId, version }) });
  }
  return shards;
}
