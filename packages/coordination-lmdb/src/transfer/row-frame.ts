import type { RowEntry } from "../engine/rows.ts";

/** A row on its way to another store. */
export interface FrameRow {
  readonly key: Buffer;
  readonly version: number;
  readonly value: Uint8Array;
}

/** The sizes in front of a row: its key, its version, its value. */
const HEAD_SIZE = 2 + 8 + 4;

/** Rows as bytes: key size u16, version f64, value size u32, key, value, one row after the other. */
export function encodeFrame(rows: readonly FrameRow[]): Buffer {
  const size = rows.reduce((sum, { key, value }) => sum + HEAD_SIZE + key.length + value.length, 0);
  const frame = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { key, version, value } of rows) {
    at = frame.writeUInt16BE(key.length, at);
    at = frame.writeDoubleBE(version, at);
    at = frame.writeUInt32BE(value.length, at);
    frame.set(key, at);
    frame.set(value, at + key.length);
    at += key.length + value.length;
  }
  return frame;
}

/** The rows of a frame; `undefined` if it is cut or too long. */
export function decodeFrame(bytes: Uint8Array): FrameRow[] | undefined {
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const rows: FrameRow[] = [];
  let at = 0;
  while (at < frame.length) {
    if (at + HEAD_SIZE > frame.length) return undefined;
    const keyEnd = at + HEAD_SIZE + frame.readUInt16BE(at);
    const version = frame.readDoubleBE(at + 2);
    const end = keyEnd + frame.readUInt32BE(at + 10);
    if (end > frame.length || !Number.isSafeInteger(version) || version < 0) return undefined;
    rows.push({ key: frame.subarray(at + HEAD_SIZE, keyEnd), version, value: frame.subarray(keyEnd, end) });
    at = end;
  }
  return rows;
}

/** A copy: the driver's buffers are valid until the next row. */
export function copyRow({ key, value, version = 0 }: RowEntry): FrameRow {
  return { key: Buffer.from(key), value: Uint8Array.from(value), version };
}
