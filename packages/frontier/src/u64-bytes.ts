// Eight bytes through which a bigint and its two halves are turned into each other. `DataView` fixes the byte order on every machine,
// and its accessors compile to plain loads and stores; shifting bigints would make three of them for one.
const word = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

/** The four bytes at `offset` as an unsigned big-endian integer. */
export function readU32(bytes: Uint8Array, offset: number): number {
  // The top byte is multiplied, not shifted: `<< 24` would make the result signed.
  return bytes[offset]! * 0x1000000 + ((bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!);
}

/** The eight bytes at `offset` as an unsigned big-endian integer. */
export function readU64(bytes: Uint8Array, offset: number): bigint {
  return joinU64(readU32(bytes, offset), readU32(bytes, offset + 4));
}

/** Two halves of 32 bits as one integer. */
export function joinU64(high: number, low: number): bigint {
  word.setUint32(0, high);
  word.setUint32(4, low);
  return word.getBigUint64(0);
}

/** Write an integer that is known to be a u64, big-endian, to `offset`. */
export function writeU64(bytes: Uint8Array, offset: number, value: bigint): void {
  word.setBigUint64(0, value);
  writeU32(bytes, offset, word.getUint32(0));
  writeU32(bytes, offset + 4, word.getUint32(4));
}

/** Write an integer that is known to be a u32, big-endian, to `offset`. */
export function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** Order the eight bytes at two offsets as unsigned integers, without making a bigint. */
export function compareU64(bytes: Uint8Array, offset: number, otherOffset: number): number {
  const high = readU32(bytes, offset) - readU32(bytes, otherOffset);
  return high === 0 ? readU32(bytes, offset + 4) - readU32(bytes, otherOffset + 4) : high;
}
