/** Bytes of a u64. */
export const U64_SIZE = 8;

/** A u64 as it is stored: most significant byte first, so that the bytes sort as the numbers do. */
export function u64Bytes(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(U64_SIZE);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

export function readU64(bytes: Uint8Array): bigint {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE();
}
