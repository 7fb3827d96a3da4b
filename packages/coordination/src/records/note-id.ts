const U64_SIZE = 8;

/** A 64-bit id as the key of a note: 8 bytes, most significant first, so that keys sort as ids. */
export function noteKeyOfId(id: bigint): Uint8Array {
  const key = new Uint8Array(U64_SIZE);
  new DataView(key.buffer).setBigUint64(0, id);
  return key;
}

/** The id in such a key; `undefined` if the key does not hold one. */
export function tryIdOfNoteKey<Id extends bigint>(key: Uint8Array): Id | undefined {
  if (key.length !== U64_SIZE) return undefined;
  return new DataView(key.buffer, key.byteOffset, U64_SIZE).getBigUint64(0) as Id;
}
