// A numeric as bytes that sort as the server sorts numerics, however many digits they have.
//
// A number other than zero is 0.d1d2d3… times a power of ten, with d1 above zero. Its bytes are a class, the exponent,
// and the digits in pairs, each pair plus one, without the zeros at the end. Those of a negative number are inverted
// and end with ff, so that more digits sort first.
import { ABOVE, BELOW, type KeyPart } from "./key-part.ts";

const CLASS = {
  negativeInfinity: 0x10,
  negative: 0x20,
  zero: 0x30,
  positive: 0x40,
  infinity: 0x50,
  nan: 0x60,
} as const;
const SPECIAL: Readonly<Record<string, number>> = {
  "-Infinity": CLASS.negativeInfinity,
  "0": CLASS.zero,
  Infinity: CLASS.infinity,
  NaN: CLASS.nan,
};

const EXPONENT_SIZE = 3;
const EXPONENT_OFFSET = 1 << 22;
/** The server has at most so many digits before and after the point. */
const MAX_EXPONENT = 131_072;
const MIN_EXPONENT = -16_382;
const NEGATIVE_END = 0xff;
const HIGHEST_PAIR = 100;
/** Longest run of zeros to write out. */
const MAX_PLAIN = 40;

/** Encodes what the server prints for a numeric. Equal numbers have equal bytes, whatever their scale. */
export function encodeNumeric(text: string): Uint8Array {
  if (text === "-Infinity" || text === "Infinity" || text === "NaN") return Uint8Array.of(SPECIAL[text]!);
  const isNegative = text.startsWith("-");
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const written = whole + fraction;
  const first = written.search(/[1-9]/);
  if (first === -1) return Uint8Array.of(CLASS.zero);
  const digits = written.slice(first).replace(/0+$/, "");
  const exponent = whole.length - first + EXPONENT_OFFSET;
  const bytes = [exponent >>> 16, (exponent >>> 8) & 0xff, exponent & 0xff];
  for (let at = 0; at < digits.length; at += 2) bytes.push(Number(digits.slice(at, at + 2).padEnd(2, "0")) + 1);
  return isNegative
    ? Uint8Array.from([CLASS.negative, ...bytes.map((byte) => 0xff - byte), NEGATIVE_END])
    : Uint8Array.from([CLASS.positive, ...bytes]);
}

/** Decodes whole bytes; `undefined` if no numeric has them. */
export function decodeNumeric(bytes: Uint8Array): string | undefined {
  const part = readNumeric(bytes, true, 0);
  return part.kind === "Whole" ? part.value : undefined;
}

/** Reads bytes of a bound as a numeric. `isWhole`: they end here, and did not just run out. */
export function readNumeric(bytes: Uint8Array, isWhole: boolean, next: number): KeyPart {
  const [kind = 0] = bytes;
  const special = Object.keys(SPECIAL).find((text) => SPECIAL[text] === kind);
  if (special !== undefined && bytes.length === 1 && isWhole) return { kind: "Whole", value: special, next };
  if (kind === CLASS.negative || kind === CLASS.positive) return readFinite(bytes, isWhole, next);
  if (kind < CLASS.negative) return BELOW;
  // Values that sort below the bytes are read as well if the least value above them has no simple form.
  if (kind < CLASS.positive) return { kind: "Partial", value: "0" };
  if (kind <= CLASS.infinity) return { kind: "Partial", value: HIGHEST };
  return kind <= CLASS.nan ? { kind: "Partial", value: "NaN" } : ABOVE;
}

/** At or below every number that is too large for the server, and the largest power of ten. */
const HIGHEST = `1e${MAX_EXPONENT - 1}`;

function readFinite(bytes: Uint8Array, isWhole: boolean, next: number): KeyPart {
  const isNegative = bytes[0] === CLASS.negative;
  const at = (index: number): number => {
    const byte = bytes[index] ?? 0;
    return isNegative ? 0xff - byte : byte;
  };
  const exponent = ((at(1) << 16) | (at(2) << 8) | at(3)) - EXPONENT_OFFSET;
  if (exponent > MAX_EXPONENT) return isNegative ? BELOW : { kind: "Partial", value: HIGHEST };
  if (exponent < MIN_EXPONENT) return { kind: "Partial", value: isNegative ? `-1e${MIN_EXPONENT - 1}` : "0" };

  const isEnded = isNegative && isWhole && bytes.at(-1) === NEGATIVE_END;
  const end = isEnded ? bytes.length - 1 : bytes.length;
  const pairs: number[] = [];
  let index = 1 + EXPONENT_SIZE;
  for (; index < end && at(index) >= 1 && at(index) <= HIGHEST_PAIR; index++) pairs.push(at(index) - 1);
  const isValue =
    isWhole && index === end && isEnded === isNegative && (pairs[0] ?? 0) >= 10 && (pairs.at(-1) ?? 0) > 0;
  const digits = pairs.map((pair) => String(pair).padStart(2, "0")).join("");
  // The server has no more places after the point.
  const cut = digits.slice(0, 1 - MIN_EXPONENT + exponent);
  const isCut = cut.length < digits.replace(/0$/, "").length;
  if (isValue && !isCut)
    return { kind: "Whole", value: `${isNegative ? "-" : ""}${decimal(cut.replace(/0$/, ""), exponent)}`, next };
  // A byte above all pairs follows: the next number is one unit higher.
  if (!isNegative) return { kind: "Partial", value: atOrBelow(cut, exponent, !isCut && at(index) > HIGHEST_PAIR) };
  const above = increment(cut);
  if (above === undefined && exponent === MAX_EXPONENT) return BELOW;
  return { kind: "Partial", value: `-${above === undefined ? `1e${exponent}` : decimal(above, exponent)}` };
}

/** A positive number at or below all those whose bytes begin like these, or come after them. */
function atOrBelow(digits: string, exponent: number, isOneHigher: boolean): string {
  if (isOneHigher) {
    const above = increment(digits);
    if (above !== undefined) return decimal(above, exponent);
    return exponent === MAX_EXPONENT ? HIGHEST : `1e${exponent}`;
  }
  return digits === "" ? `1e${exponent - 1}` : decimal(digits, exponent);
}

/** One more in the last place; `undefined` if that carries into the place before the point. */
function increment(digits: string): string | undefined {
  if (digits === "" || /^9+$/.test(digits)) return undefined;
  return (BigInt(digits) + 1n).toString().padStart(digits.length, "0");
}

/** 0.DIGITS times ten to the exponent, as text that the server reads exactly: without `e` if that is short. */
function decimal(digits: string, exponent: number): string {
  if (exponent > MAX_PLAIN || exponent < -MAX_PLAIN) return `${digits}e${exponent - digits.length}`;
  const whole = exponent > 0 ? digits.slice(0, exponent).padEnd(exponent, "0") : "0";
  const fraction = exponent > 0 ? digits.slice(exponent) : "0".repeat(-exponent) + digits;
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
