/** The polynomial of Castagnoli, lowest bit first. */
const POLYNOMIAL = 0x82f63b78;

const TABLE_SIZE = 256;
const TABLE_COUNT = 16;

/** `TABLES[256 * k + byte]` is the effect of `byte` on the checksum from `k` bytes before the end. */
const TABLES = /* @__PURE__ */ makeTables();

/**
 * CRC-32C (Castagnoli) of `view` from `start` up to `end`, as a signed 32-bit integer: the engine would put half of the
 * unsigned ones on the heap.
 *
 * Any flipped bit changes it, and so does any burst of up to 32 bits. It detects damage, not forgery.
 *
 * Takes plain offsets instead of an object: this runs for every record that is written, and the object would be its
 * only allocation. The caller keeps them within the view.
 */
export function crc32c(view: DataView, start: number, end: number): number {
  let crc = -1;
  let at = start;
  // Sixteen bytes a step, each through its own table: the steps depend on each other, the lookups within one do not. Five
  // times as fast as a byte a step; this is most of a record's encoding.
  for (const last = end - 15; at < last; at += 16) {
    const a = crc ^ view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const c = view.getInt32(at + 8, true);
    const d = view.getInt32(at + 12, true);
    // The lookups that do not depend on the previous step come first, so the processor can start them early.
    const rest =
      TABLES[2816 + (b & 0xff)]! ^
      TABLES[2560 + ((b >>> 8) & 0xff)]! ^
      TABLES[2304 + ((b >>> 16) & 0xff)]! ^
      TABLES[2048 + (b >>> 24)]! ^
      TABLES[1792 + (c & 0xff)]! ^
      TABLES[1536 + ((c >>> 8) & 0xff)]! ^
      TABLES[1280 + ((c >>> 16) & 0xff)]! ^
      TABLES[1024 + (c >>> 24)]! ^
      TABLES[768 + (d & 0xff)]! ^
      TABLES[512 + ((d >>> 8) & 0xff)]! ^
      TABLES[256 + ((d >>> 16) & 0xff)]! ^
      TABLES[d >>> 24]!;
    crc =
      TABLES[3840 + (a & 0xff)]! ^
      TABLES[3584 + ((a >>> 8) & 0xff)]! ^
      TABLES[3328 + ((a >>> 16) & 0xff)]! ^
      TABLES[3072 + (a >>> 24)]! ^
      rest;
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
