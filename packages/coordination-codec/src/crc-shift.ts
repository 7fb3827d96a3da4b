import { updateCrc } from "./crc32c.ts";

const TABLE_SIZE = 256;

/**
 * What becomes of a checksum's register while a certain number of bytes follows, whichever they are.
 *
 * A checksum is linear: the register behind some bytes is what it would be with zeros in their place, and over it, by exclusive
 * or, the register that the bytes alone lead to from 0. So the register of bytes that are known need not be found
 * again when others come before them, and what is before others can be taken out.
 *
 * ```text
 * updateCrc(register, bytes) = shift(register) ^ updateCrc(0, bytes)
 * ```
 */
export class CrcShift {
  readonly #tables = new Int32Array(4 * TABLE_SIZE);

  constructor(size: number) {
    const zeros = new DataView(new ArrayBuffer(size));
    for (let bit = 0; bit < 32; bit++) {
      const shifted = updateCrc(1 << bit, zeros, 0, size);
      // Those of a byte whose highest bit this is are those of its other bits, and this one over them.
      const table = TABLE_SIZE * (bit >> 3);
      const first = 1 << (bit & 7);
      for (let lower = 0; lower < first; lower++)
        this.#tables[table + first + lower] = this.#tables[table + lower]! ^ shifted;
    }
  }

  of(register: number): number {
    const tables = this.#tables;
    return (
      tables[register & 0xff]! ^
      tables[TABLE_SIZE + ((register >>> 8) & 0xff)]! ^
      tables[2 * TABLE_SIZE + ((register >>> 16) & 0xff)]! ^
      tables[3 * TABLE_SIZE + (register >>> 24)]!
    );
  }
}
