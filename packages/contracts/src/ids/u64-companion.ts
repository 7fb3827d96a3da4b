import { err, ok, type Result } from "@gossip/stdx";
import { assertU64, formatU64, parseU64, refuseIdText, U64_MAX, U64_TEXT_LENGTH, type IdTextError } from "./u64.ts";

/** Why a value is not an unsigned 64-bit integer. */
export type U64InputError =
  | { readonly kind: "NotABigint"; readonly given: string }
  | { readonly kind: "NegativeInteger" }
  | { readonly kind: "IntegerTooLarge" };

/** What every 64-bit id can do. */
export interface U64Companion<Id extends bigint> {
  /** Brands a raw integer. The caller guarantees what it names. Throws `InvariantViolation` unless it is a u64. */
  fromRaw(raw: bigint): Id;
  /** `fromRaw` for an integer that came from outside. */
  tryFromRaw(raw: bigint): Result<Id, U64InputError>;
  /** Sixteen hex digits: sorts as text in the order of the ids. It is also the id's form in JSON. */
  format(id: Id): string;
  /** Read what `format` wrote, and nothing else: sixteen lowercase hex digits. */
  parse(text: string): Result<Id, IdTextError>;
}

/** Builds the companion of a 64-bit id. `noun` starts its error messages. */
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
      return raw === undefined ? refuseIdText(text, U64_TEXT_LENGTH) : ok(raw as Id);
    },
  };
}
