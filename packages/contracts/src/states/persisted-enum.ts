import { assert, assertCount } from "@gossip/stdx";

/**
 * The names of a closed set, and the numbers that stores keep for them.
 *
 * The names are the API. Numbers appear only in records and hashes, so a number is never reused.
 */
export interface PersistedEnum<Name extends string> {
  /** Every name, in the order of the numbers. */
  readonly values: readonly Name[];
  /** The number of each name. */
  readonly codes: Readonly<Record<Name, number>>;
  /** The name of a stored number, or `undefined` if there is none. */
  fromCode(code: number): Name | undefined;
  /** Whether a value from outside is one of the names. */
  is(value: unknown): value is Name;
}

/** Builds such a set. Each number is a byte and belongs to one name. */
export function persistedEnum<const Codes extends Readonly<Record<string, number>>>(
  given: Codes,
): PersistedEnum<keyof Codes & string> {
  type Name = keyof Codes & string;
  const codes: Codes = Object.freeze({ ...given });
  const values = (Object.keys(codes) as Name[]).sort((a, b) => codes[a]! - codes[b]!);
  for (const name of values) assertCount(codes[name], `number of ${name}`, { min: 0, max: 255 });
  assert(
    new Set(Object.values(codes)).size === values.length,
    "every name of an enumeration must have a number of its own",
  );

  return {
    values: Object.freeze(values),
    codes,

    fromCode(code) {
      return values.find((name) => codes[name] === code);
    },

    is(value): value is Name {
      return typeof value === "string" && Object.hasOwn(codes, value);
    },
  };
}
