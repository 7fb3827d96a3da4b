import { U64_SIZE } from "./u64-bytes.ts";

/**
 * Arrays in the server's own binary form, as parameters.
 *
 * The driver sends a buffer as it is, marked as binary. It writes an array as text, element by element, which doubles the size of bytes
 * and which the server parses character by character. CPU of client and server together for a checkpoint, with and without: 46 and 56 µs at 64
 * sessions, 66 and 92 at 10; with a renewal, 55 and 77 at 64.
 *
 * | bytes    |                                                       |
 * | -------- | ----------------------------------------------------- |
 * | 4        | dimensions: 1                                         |
 * | 4        | whether an element may be null                        |
 * | 4        | the type of the elements, a number that never changes |
 * | 4, 4     | how many there are, and the number of the first: 1    |
 * | 4 and on | for each its size, -1 for null, and its bytes         |
 *
 * An array of nulls only is sent as null: `unnest` pads its shorter arrays with nulls, and most columns of a statement over many shards
 * change in none of them.
 */

/** A parameter that is an array. */
export type ServerArray = Buffer | null;

const HEADER_SIZE = 20;
const SIZE_SIZE = 4;
const INT8_SIZE = 8;
const NULL_SIZE = -1;

const BYTEA = 17;
const INT8 = 20;
const TEXT = 25;

const TWO_TO_32 = 2 ** 32;

/** Whole numbers as `bigint[]`. */
export function int8Array(values: readonly (number | null)[]): ServerArray {
  if (values.every((value) => value === null)) return null;
  const bytes = begin(INT8, values.length, values.length * (SIZE_SIZE + INT8_SIZE));
  const view = viewOf(bytes);
  let offset = HEADER_SIZE;
  for (const value of values) {
    view.setInt32(offset, value === null ? NULL_SIZE : INT8_SIZE);
    offset += SIZE_SIZE;
    if (value === null) continue;
    // In halves: a bigint for each would have to be allocated.
    view.setInt32(offset, Math.floor(value / TWO_TO_32));
    view.setInt32(offset + 4, value | 0);
    offset += INT8_SIZE;
  }
  return bytes.subarray(0, offset);
}

/** Unsigned 64-bit numbers as `bytea[]`, as they are stored. */
export function u64Array(values: readonly (bigint | undefined)[]): ServerArray {
  return fixedArray(values.length, U64_SIZE, (view, offset, index) => {
    const value = values[index];
    if (value === undefined) return false;
    // A `DataView`, because `Buffer#writeBigUInt64BE` allocates further bigints.
    view.setBigUint64(offset, value);
    return true;
  });
}

/** Elements of one size as `bytea[]`. `write` writes one at an offset, or returns false for null. */
export function fixedArray(
  count: number,
  size: number,
  write: (view: DataView, offset: number, index: number) => boolean,
): ServerArray {
  const bytes = begin(BYTEA, count, count * (SIZE_SIZE + size));
  const view = viewOf(bytes);
  let offset = HEADER_SIZE;
  let nulls = 0;
  for (let index = 0; index < count; index++) {
    const isThere = write(view, offset + SIZE_SIZE, index);
    view.setInt32(offset, isThere ? size : NULL_SIZE);
    offset += isThere ? SIZE_SIZE + size : SIZE_SIZE;
    if (!isThere) nulls++;
  }
  return nulls === count ? null : bytes.subarray(0, offset);
}

export function byteaArray(values: readonly (Uint8Array | undefined)[]): ServerArray {
  if (values.every(isNothing)) return null;
  let size = 0;
  for (const value of values) size += SIZE_SIZE + (value?.length ?? 0);
  const bytes = begin(BYTEA, values.length, size);
  let offset = HEADER_SIZE;
  for (const value of values) {
    offset = bytes.writeInt32BE(value?.length ?? NULL_SIZE, offset);
    if (value === undefined) continue;
    bytes.set(value, offset);
    offset += value.length;
  }
  return bytes;
}

/** Names as `text[]`: letters and digits only. */
export function nameArray(values: readonly (string | undefined)[]): ServerArray {
  if (values.every(isNothing)) return null;
  let size = 0;
  for (const value of values) size += SIZE_SIZE + (value?.length ?? 0);
  const bytes = begin(TEXT, values.length, size);
  let offset = HEADER_SIZE;
  for (const value of values) {
    offset = bytes.writeInt32BE(value?.length ?? NULL_SIZE, offset);
    if (value === undefined) continue;
    // The names are short: a loop is faster than `Buffer#write`.
    for (let index = 0; index < value.length; index++) bytes[offset++] = value.charCodeAt(index);
  }
  return bytes;
}

function isNothing(value: unknown): boolean {
  return value === undefined;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function begin(type: number, count: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_SIZE + size);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(type, 8);
  bytes.writeInt32BE(count, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}
