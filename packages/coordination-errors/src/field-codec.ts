import type { InvalidField, TenantId } from "@gossip/contracts";
import { formatU64, invalidField, isU64, JsonReader } from "@gossip/contracts/internal";
import { ok, Redacted, type Result } from "@gossip/stdx";
import { AbbreviatedTenant } from "./abbreviated-tenant.ts";

/**
 * How one field is printed, written and read.
 *
 * Printing happens on the way out of a failure, so `show` and `encode` refuse nothing. A value of the wrong type shows
 * as `<invalid>`: it may be a key in the wrong field.
 */
export interface FieldCodec<T> {
  /** For people. */
  show(value: unknown): string;
  /** For JSON, which leaves out what is `undefined`. */
  encode(value: unknown): unknown;
  decode(json: unknown, field: string): Result<T, InvalidField>;
  /** Wraps what the maker of an error passes in the clear. Only hidden fields have it. */
  readonly hide?: (inTheClear: unknown) => T;
}

/** A codec of a field that is hidden. */
export type HiddenFieldCodec<T> = Required<FieldCodec<T>>;

export const REDACTED = "<redacted>";
export const INVALID = "<invalid>";

/** A codec for values that look in JSON as they do here. */
export function plain<T>(expected: string, is: (value: unknown) => value is T): FieldCodec<T> {
  return {
    show: (value) => (is(value) ? String(value) : INVALID),
    encode: (value) => (is(value) ? value : INVALID),
    decode: (json, field) => (is(json) ? ok(json) : invalidField(field, expected)),
  };
}

/** One of a closed set of names. */
export function oneOf<T extends string>(names: readonly T[]): FieldCodec<T> {
  return plain(`one of ${names.join(", ")}`, (value): value is T => (names as readonly unknown[]).includes(value));
}

/** A whole number from 0 on. */
export const count: FieldCodec<number> = plain("a whole number from 0 on", isCount);

/** The size of bytes that are themselves no business of an error. */
export const byteSize: FieldCodec<number> = {
  ...plain("a size in bytes", isCount),
  show: (value) => (isCount(value) ? `[${value} bytes]` : INVALID),
};

/** A u64 that people read as 16 hex digits, as JSON does. */
export function id<Id extends bigint>(): FieldCodec<Id> {
  const encode = (value: unknown): string => (isU64(value) ? formatU64(value) : INVALID);
  return { show: encode, encode, decode: JsonReader.u64<Id> };
}

/** A u64 that people read as a number: a time, an epoch. */
export function ordinal<Id extends bigint>(): FieldCodec<Id> {
  return { ...id<Id>(), show: (value) => (isU64(value) ? String(value) : INVALID) };
}

/** An optional value; JSON leaves it out if it is missing. */
export function optional<T>(codec: FieldCodec<T>): FieldCodec<T | undefined> {
  return {
    show: (value) => (value === undefined ? "none" : codec.show(value)),
    encode: (value) => (value === undefined ? undefined : codec.encode(value)),
    decode: JsonReader.optional((json, field) => codec.decode(json, field)),
  };
}

/** A value that is never shown, and does not travel. */
export function hidden<T>(): HiddenFieldCodec<Redacted<T | undefined>> {
  return {
    show: () => REDACTED,
    encode: () => REDACTED,
    decode: (json, field) =>
      json === REDACTED ? ok(new Redacted<T | undefined>(undefined)) : invalidField(field, REDACTED),
    hide: (inTheClear) => new Redacted(inTheClear as T),
  };
}

const ABBREVIATION = /^[0-9a-f]{8}\.\.$/;

/** A tenant, by its first four bytes. */
export const abbreviatedTenant: HiddenFieldCodec<AbbreviatedTenant> = {
  show: showTenant,
  encode: showTenant,
  decode: (json, field) => {
    // The clone of an error has lost its tenant, and shows `<redacted>`.
    if (json === REDACTED) return ok(new AbbreviatedTenant(undefined, REDACTED));
    const isText = typeof json === "string" && ABBREVIATION.test(json);
    return isText
      ? ok(new AbbreviatedTenant(undefined, json))
      : invalidField(field, "8 lowercase hex digits and two dots");
  },
  hide: (inTheClear) => new AbbreviatedTenant(inTheClear as TenantId),
};

function showTenant(value: unknown): string {
  // Another copy of this package has another class, so its text decides. Nothing longer is accepted.
  const text = isObject(value) && typeof value["toJSON"] === "function" ? (value["toJSON"]() as unknown) : undefined;
  return typeof text === "string" && ABBREVIATION.test(text) ? text : REDACTED;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
