/** Castagnoli's polynomial, lowest bit first. */
const POLYNOMIAL = 0x82f63b78;

const TABLE_SIZE = 256;
const TABLE_COUNT = 8;

/** `TABLES[256 * k + byte]` is what `byte` does to the checksum from `k` bytes before the end. */
const TABLES = /* @__PURE__ */ makeTables();

/**
 * CRC-32C (Castagnoli) of `view` from `start` up to `end`, as its 32 bits read as a
 * signed integer: the engine puts half of the unsigned ones on the heap.
 *
 * Any one flipped bit changes it, and so does any burst of up to 32 bits. It
 * tells damage, not forgery.
 *
 * Positions go in bare, not in an object, since this runs for every record that
 * is written and the object would be its only allocation. The caller keeps them
 * within the view.
 */
export function crc32c(view: DataView, start: number, end: number): number {
  let crc = -1;
  let at = start;
  // Eight bytes a step, each through its own table: the steps depend on each other, the lookups within one do not. It is
  // three times as fast as a byte a step.
  for (const last = end - 7; at < last; at += 8) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      TABLES[1792 + (low & 0xff)]! ^
      TABLES[1536 + ((low >>> 8) & 0xff)]! ^
      TABLES[1280 + ((low >>> 16) & 0xff)]! ^
      TABLES[1024 + (low >>> 24)]! ^
      TABLES[768 + (high & 0xff)]! ^
      TABLES[512 + ((high >>> 8) & 0xff)]! ^
      TABLES[256 + ((high >>> 16) & 0xff)]! ^
      TABLES[high >>> 24]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ TABLES[(crc ^ view.getUint8(at)) & 0xff]!;
  return ~crc;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(TABLE_COUNT * TABLE_SIZE);
  for (let byte = 0; byte < TABLE_SIZE; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
    tables[byte] = crc;
  }
  for (let index = TABLE_SIZE; index < tables.length; index++) {
    const nearer = tables[index - TABLE_SIZE]!;
    tables[index] = (nearer >>> 8) ^ tables[nearer & 0xff]!;
  }
  return tables;
}
