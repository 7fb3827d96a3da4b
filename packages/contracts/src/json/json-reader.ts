import { err, ok, type Result } from "@gossip/stdx";
import { decodeBase64Url } from "@gossip/stdx/internal";
import { parseU64 } from "../ids/u64.ts";

/** A part of some JSON that is malformed. The error does not contain the value, which may be anything. */
export interface InvalidField {
  readonly kind: "InvalidField";
  /** The path: names and positions from the outside in, joined by dots. Empty for the whole. */
  readonly field: string;
  /** What is allowed there. */
  readonly expected: string;
}

/** Reads one value of parsed JSON. `field` is its path. */
export type JsonReader<T> = (json: unknown, field: string) => Result<T, InvalidField>;

/** A reader for each field of `T`. */
export type JsonFieldReaders<T> = { readonly [K in keyof T]-?: JsonReader<T[K]> };

export const JsonReader = {
  /** Bytes from base64url text. */
  bytes: (json: unknown, field: string): Result<Uint8Array, InvalidField> => {
    const bytes = typeof json === "string" ? decodeBase64Url(json) : undefined;
    return bytes === undefined ? invalidField(field, "base64url text without padding") : ok(bytes);
  },

  /** A 64-bit id from 16 hex digits. */
  u64: <Id extends bigint>(json: unknown, field: string): Result<Id, InvalidField> => {
    const raw = parseU64(json);
    return raw === undefined ? invalidField(field, "16 lowercase hex digits") : ok(raw as Id);
  },

  /** A whole number, 0 or more. */
  count: (json: unknown, field: string): Result<number, InvalidField> => {
    const isCount = Number.isSafeInteger(json) && (json as number) >= 0;
    return isCount ? ok(json as number) : invalidField(field, "a whole number from 0 on");
  },

  /** A boolean. */
  flag: (json: unknown, field: string): Result<boolean, InvalidField> =>
    typeof json === "boolean" ? ok(json) : invalidField(field, "true or false"),

  /** Any text. */
  text: (json: unknown, field: string): Result<string, InvalidField> =>
    typeof json === "string" ? ok(json) : invalidField(field, "text"),

  /** One of a closed set of names. */
  oneOf:
    <Name extends string>(names: readonly Name[]): JsonReader<Name> =>
    (json, field) => {
      const name = names.find((one) => one === json);
      return name === undefined ? invalidField(field, `one of ${names.join(", ")}`) : ok(name);
    },

  /** A value that may be left out, or `null`. */
  optional:
    <T>(read: JsonReader<T>): JsonReader<T | undefined> =>
    (json, field) =>
      json === undefined || json === null ? ok<T | undefined>(undefined) : read(json, field),

  /** A list. The error is that of the first malformed item. */
  array:
    <T>(readItem: JsonReader<T>): JsonReader<readonly T[]> =>
    (json, field) => {
      if (!Array.isArray(json)) return invalidField(field, "a list");
      const items: T[] = [];
      for (const [index, one] of (json as unknown[]).entries()) {
        const item = readItem(one, within(field, String(index)));
        if (!item.ok) return item;
        items.push(item.value);
      }
      return ok(items);
    },

  /**
   * An object with these fields, read in the order in which they are listed. Ignores others. The result has every
   * field: an optional one that is missing is `undefined`.
   */
  object:
    <T extends object>(fields: JsonFieldReaders<T>): JsonReader<T> =>
    (json, field) => {
      if (typeof json !== "object" || json === null || Array.isArray(json)) return invalidField(field, "an object");
      const value: Partial<T> = {};
      for (const name of Object.keys(fields) as (keyof T & string)[]) {
        const own = Object.hasOwn(json, name) ? (json as Record<string, unknown>)[name] : undefined;
        const read = fields[name](own, within(field, name));
        if (!read.ok) return read;
        value[name] = read.value;
      }
      return ok(value as T);
    },
} as const;

export function invalidField(field: string, expected: string): Result<never, InvalidField> {
  return err({ kind: "InvalidField", field, expected });
}

/** The path of `name` inside `field`. */
export function within(field: string, name: string): string {
  return field === "" ? name : `${field}.${name}`;
}
