import { U64_MAX, type ShardId } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";

/**
 * How many shards a run has, and a digest of their ids that does not depend on their order.
 *
 * `fsck` compares it with the records that it finds. That is how a record that has vanished, or has taken the key of another, is noticed
 * even where it leaves no trace in any record or index.
 */
export interface RunCensus {
  readonly count: number;
  /** The sum of the mixed ids, modulo 2^64. */
  readonly digest: bigint;
}

const COUNT_SIZE = 8;
const CENSUS_SIZE = 16;

/**
 * Censuses of runs.
 *
 * A store implements them so:
 *
 * - Keep one census for each run, in a row or key of its own, so that checkpoints never touch it.
 * - When shards are created (a registration or a split), add `RunCensus.of(ids)` to it in the same transaction: `RunCensus.sum`. The census
 *   of a run that has no shards yet starts at `RunCensus.NONE`.
 * - When a run is removed, remove its census in the same transaction.
 * - A run that is older than the census has shards and no census. Do not start one with its next split: it would lack the earlier
 *   shards. Only `rebuildIndexes` may write it, from the records that are there.
 * - Never overwrite a census that exists, not even in `rebuildIndexes`: where it differs from the records, it is the only evidence that
 *   one was lost.
 * - Return it from `RunView.census`.
 */
export const RunCensus = {
  /** The census of no shards. */
  NONE: Object.freeze({ count: 0, digest: 0n }) as RunCensus,

  of(shards: Iterable<ShardId>): RunCensus {
    let [count, digest] = [0, 0n];
    for (const shard of shards) {
      count++;
      digest += mix(shard);
    }
    return { count, digest: BigInt.asUintN(64, digest) };
  },

  /** The census of the shards of both. They must have none in common. */
  sum(a: RunCensus, b: RunCensus): RunCensus {
    return { count: a.count + b.count, digest: BigInt.asUintN(64, a.digest + b.digest) };
  },

  isEqual(a: RunCensus, b: RunCensus): boolean {
    return a.count === b.count && a.digest === b.digest;
  },

  /** Sixteen bytes for stores that keep blobs: the count, then the digest, both big-endian. */
  toBytes({ count, digest }: RunCensus): Uint8Array {
    assertCount(count, "count of a census", { min: 0, max: Number.MAX_SAFE_INTEGER });
    assert(digest >= 0n && digest <= U64_MAX, "digest of a census must be from 0 to 2^64 - 1");
    const bytes = new Uint8Array(CENSUS_SIZE);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, BigInt(count));
    view.setBigUint64(COUNT_SIZE, digest);
    return bytes;
  },

  /** What `toBytes` wrote. `undefined` if the bytes are no census. */
  tryFromBytes(bytes: Uint8Array): RunCensus | undefined {
    if (bytes.length !== CENSUS_SIZE) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, CENSUS_SIZE);
    const count = view.getBigUint64(0);
    if (count > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
    return { count: Number(count), digest: view.getBigUint64(COUNT_SIZE) };
  },
} as const;

/** Spread an id over all 64 bits (the finalizer of SplitMix64), so that sums of different sets differ. Stored: never change it. */
function mix(shard: ShardId): bigint {
  let z = BigInt.asUintN(64, shard + 0x9e37_79b9_7f4a_7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58_476d_1ce4_e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d0_49bb_1331_11ebn);
  return z ^ (z >> 31n);
}
