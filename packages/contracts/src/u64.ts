import { err, InvariantViolation, ok, type Result } from "@gossip/stdx";

/** Largest unsigned 64-bit integer. */
export const U64_MAX = (1n << 64n) - 1n;

/** Digits of an id's text: two a byte. */
const U64_TEXT_LENGTH = 16;
const U64_TEXT = /^[0-9a-f]{16}$/;

/** Why a value is no unsigned 64-bit integer. */
export type U64InputError =
  | { readonly kind: "NotABigint"; readonly given: string }
  | { readonly kind: "NegativeInteger" }
  | { readonly kind: "IntegerTooLarge" };

/** Why a text is no id. The text itself is left out: it may be anything. */
export type IdTextError =
  | { readonly kind: "NotAString"; readonly given: string }
  | { readonly kind: "WrongTextLength"; readonly length: number; readonly expected: number }
  | { readonly kind: "NotLowercaseHex" };

/** What every 64-bit id can do. */
export interface U64Companion<Id extends bigint> {
  /** Brand a raw integer. The caller vouches for what it names; anything but a u64 is an `InvariantViolation`. */
  fromRaw(raw: bigint): Id;
  /** `fromRaw` for an integer that came from outside. */
  tryFromRaw(raw: bigint): Result<Id, U64InputError>;
  /** Sixteen hex digits: sorts as text in the order of the ids. */
  format(id: Id): string;
  /** Read what `format` wrote, and nothing else: sixteen lowercase hex digits. */
  parse(text: string): Result<Id, IdTextError>;
}

/** Build the companion of a 64-bit id. `noun` opens its complaints. */
export function u64Companion<Id extends bigint>(noun: string): U64Companion<Id> {
  return {
    fromRaw(raw) {
      assertU64(raw, noun);
      return raw as Id;
    },

    tryFromRaw(raw) {
      if (typeof raw !== "bigint") return err({ kind: "NotABigint", given: typeof raw });
      if (raw < 0n) return err({ kind: "NegativeInteger" });
      if (raw > U64_MAX) return err({ kind: "IntegerTooLarge" });
      return ok(raw as Id);
    },

    format(id) {
      assertU64(id, noun);
      return formatU64(id);
    },

    parse(text) {
      const raw = parseU64(text);
      return raw.ok ? ok(raw.value as Id) : raw;
    },
  };
}

/** Throw unless `value` is a bigint that fits in 64 bits without a sign. */
export function assertU64(value: unknown, noun: string): asserts value is bigint {
  // The complaint is made elsewhere: a closure for it here would be an allocation a call.
  if (typeof value !== "bigint" || value < 0n || value > U64_MAX) refuse(value, noun);
}

function refuse(value: unknown, noun: string): never {
  if (typeof value !== "bigint") throw new InvariantViolation(`${noun} must be a bigint, got a value of type ${typeof value}`);
  const sign = value < 0n ? "negative" : "larger";
  throw new InvariantViolation(`${noun} must be a bigint from 0 to 2^64 - 1, got a ${sign} one`);
}

/** Sixteen hex digits of an integer that is known to be a u64. */
export function formatU64(value: bigint): string {
  return value.toString(16).padStart(U64_TEXT_LENGTH, "0");
}

/** Read sixteen lowercase hex digits. */
export function parseU64(text: string): Result<bigint, IdTextError> {
  const checked = checkHex(text, { digits: U64_TEXT, length: U64_TEXT_LENGTH });
  return checked.ok ? ok(BigInt(`0x${text}`)) : checked;
}

/** The three rules of an id's text, in their order: a string, of the right length, of hex digits. */
export function checkHex(
  text: unknown,
  allowed: { readonly digits: RegExp; readonly length: number },
): Result<void, IdTextError> {
  if (typeof text !== "string") return err({ kind: "NotAString", given: typeof text });
  if (text.length !== allowed.length) {
    return err({ kind: "WrongTextLength", length: text.length, expected: allowed.length });
  }
  return allowed.digits.test(text) ? ok() : err({ kind: "NotLowercaseHex" });
}
