import { readU32, writeU32 } from "../keys/u64-bytes.ts";

const word = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

const SIGN = 0x8000_0000;
const NAN_HIGH = 0x7ff8_0000;

/**
 * Writes a double so that byte order is numeric order: `-0` before `0`, NaN last.
 *
 * The IEEE 754 bits of positive numbers are already in order, so only the sign bit is set. Those of negative numbers
 * are in reverse order, so all bits are flipped.
 */
export function writeDouble(value: number, target: Uint8Array, offset: number): void {
  word.setFloat64(0, value);
  let high = word.getUint32(0);
  let low = word.getUint32(4);
  // NaN has many bit patterns, and a program cannot choose the one it holds. Write one of them, so that NaN has one
  // key.
  if (Number.isNaN(value)) {
    high = NAN_HIGH;
    low = 0;
  }
  const isNegative = high >= SIGN;
  writeU32(target, offset, isNegative ? ~high : high ^ SIGN);
  writeU32(target, offset + 4, isNegative ? ~low : low);
}

/** Reads the double at `offset`, each byte flipped by `flip`. Every bit pattern of NaN reads as NaN. */
export function readDouble(bytes: Uint8Array, offset: number, flip: number): number {
  const flipWord = flip === 0 ? 0 : ~0;
  const encodedHigh = (readU32(bytes, offset) ^ flipWord) >>> 0;
  const encodedLow = (readU32(bytes, offset + 4) ^ flipWord) >>> 0;
  const isNegative = encodedHigh < SIGN;
  const high = (isNegative ? ~encodedHigh : encodedHigh ^ SIGN) >>> 0;
  const low = (isNegative ? ~encodedLow : encodedLow) >>> 0;

  word.setUint32(0, high);
  word.setUint32(4, low);
  return word.getFloat64(0);
}
