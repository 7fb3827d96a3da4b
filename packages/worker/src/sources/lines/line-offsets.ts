import { ManifestRowKey } from "@gossip/frontier";

const KEY_SIZE = ManifestRowKey.ENCODED_LEN;
const OFFSET_SIZE = 8;

/** The eight bytes that all keys of a manifest start with. */
export function manifestPrefix(manifestId: bigint): Uint8Array {
  const prefix = Buffer.alloc(OFFSET_SIZE);
  prefix.writeBigUInt64BE(manifestId);
  return prefix;
}

/**
 * The key of the line at an offset, equal to a `ManifestRowKey`. It uses two halves because a bigint would take most of
 * the time.
 */
export function lineKey(prefix: Uint8Array, offset: number): Uint8Array {
  const key = new Uint8Array(KEY_SIZE);
  key.set(prefix);
  const high = Math.floor(offset / 2 ** 32);
  const low = offset >>> 0;
  key[8] = high >>> 24;
  key[9] = high >>> 16;
  key[10] = high >>> 8;
  key[11] = high;
  key[12] = low >>> 24;
  key[13] = low >>> 16;
  key[14] = low >>> 8;
  key[15] = low;
  return key;
}

/** The least offset whose key is at or above `bound`, which may be any bytes. 0 if all are, `Infinity` if none is. */
export function offsetAtOrAbove(prefix: Uint8Array, bound: Uint8Array): number {
  const padded = Buffer.alloc(KEY_SIZE);
  padded.set(bound.subarray(0, KEY_SIZE));
  const order = Buffer.compare(padded.subarray(0, OFFSET_SIZE), prefix);
  if (order !== 0) return order < 0 ? 0 : Infinity;
  const row = padded.readBigUInt64BE(OFFSET_SIZE) + (bound.length > KEY_SIZE ? 1n : 0n);
  return row > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(row);
}
