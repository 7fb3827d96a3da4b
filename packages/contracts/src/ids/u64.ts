import { err, InvariantViolation, type Result } from "@gossip/stdx";

/** Largest unsigned 64-bit integer. */
export const U64_MAX = (1n << 64n) - 1n;

/** Digits of a u64's text: two per byte. */
export const U64_TEXT_LENGTH = 16;

const U64_TEXT = /^[0-9a-f]{16}$/;

/** Whether `value` is a bigint that fits in 64 bits without a sign. */
export function isU64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= 0n && value <= U64_MAX;
}

/** Throw unless `value` is a bigint that fits in 64 bits without a sign. */
export function assertU64(value: unknown, noun: string): asserts value is bigint {
  // The message is built elsewhere: a closure for it here would be one allocation per call.
  if (!isU64(value)) refuse(value, noun);
}

/** Sixteen hex digits of an integer that is known to be a u64. */
export function formatU64(value: bigint): string {
  return value.toString(16).padStart(U64_TEXT_LENGTH, "0");
}

/** The integer of sixteen lowercase hex digits, or `undefined` for anything else. */
export function parseU64(text: unknown): bigint | undefined {
  return typeof text === "string" && U64_TEXT.test(text) ? BigInt(`0x${text}`) : undefined;
}

function refuse(value: unknown, noun: string): never {
  const given =
    typeof value !== "bigint" ? `a value of type ${typeof value}` : value < 0n ? "a negative one" : "a larger one";
  throw new InvariantViolation(`${noun} must be a bigint from 0 to 2^64 - 1, got ${given}`);
}

/** Why text is not an id. Does not contain the text: it may be anything. */
export type IdTextError =
  | { readonly kind: "NotAString"; readonly given: string }
  | { readonly kind: "WrongTextLength"; readonly length: number; readonly expected: number }
  | { readonly kind: "NotLowercaseHex" };

/** Returns why a malformed id was refused: not a string, wrong length, or not lowercase hex. */
export function refuseIdText(text: unknown, expected: number): Result<never, IdTextError> {
  if (typeof text !== "string") return err({ kind: "NotAString", given: typeof text });
  if (text.length !== expected) return err({ kind: "WrongTextLength", length: text.length, expected });
  return err({ kind: "NotLowercaseHex" });
}
