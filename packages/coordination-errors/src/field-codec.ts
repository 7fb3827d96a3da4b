import { err, ok, Redacted, type Result } from "@gossip/stdx";
import { AbbreviatedTenant } from "./abbreviated-tenant.ts";

/** A malformed field in the JSON form of an error. Does not contain the value: it may be anything. */
export interface InvalidField {
  readonly kind: "InvalidField";
  /** Where: names from the outside in, joined by dots. */
  readonly field: string;
  /** What is allowed there. */
  readonly expected: string;
}

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
}

export const REDACTED = "<redacted>";
export const INVALID = "<invalid>";

/** A codec for values that look in JSON as they do here. */
export function plain<T>(expected: string, is: (value: unknown) => value is T): FieldCodec<T> {
  return {
    show: (value) => (is(value) ? String(value) : INVALID),
    encode: (value) => (is(value) ? value : INVALID),
    decode: (json, field) => (is(json) ? ok(json) : invalid(field, expected)),
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

interface U64Text<Id extends bigint> {
  tryFromRaw(raw: bigint): Result<Id, unknown>;
  format(id: Id): string;
  parse(text: string): Result<Id, unknown>;
}

/** A u64 that people read as 16 hex digits, as JSON does. */
export function id<Id extends bigint>(text: U64Text<Id>): FieldCodec<Id> {
  const encode = (value: unknown): string => {
    const raw = text.tryFromRaw(value as bigint);
    return raw.ok ? text.format(raw.value) : INVALID;
  };
  return {
    show: encode,
    encode,
    decode: (json, field) => {
      const parsed = text.parse(json as string);
      return parsed.ok ? parsed : invalid(field, "16 lowercase hex digits");
    },
  };
}

/** A u64 that people read as a number: a time, an epoch. */
export function ordinal<Id extends bigint>(text: U64Text<Id>): FieldCodec<Id> {
  return { ...id(text), show: (value) => (text.tryFromRaw(value as bigint).ok ? String(value) : INVALID) };
}

/** An optional value; JSON leaves it out if it is missing. */
export function optional<T>(codec: FieldCodec<T>): FieldCodec<T | undefined> {
  return {
    show: (value) => (value === undefined ? "none" : codec.show(value)),
    encode: (value) => (value === undefined ? undefined : codec.encode(value)),
    decode: (json, field) =>
      json === null || json === undefined ? ok<T | undefined>(undefined) : codec.decode(json, field),
  };
}

/** A value that is never shown, and does not travel. */
export function hidden<T>(): FieldCodec<Redacted<T | undefined>> {
  return {
    show: () => REDACTED,
    encode: () => REDACTED,
    decode: (json, field) =>
      json === REDACTED ? ok(new Redacted<T | undefined>(undefined)) : invalid(field, REDACTED),
  };
}

const ABBREVIATION = /^[0-9a-f]{8}\.\.$/;

/** A tenant, by its first four bytes. */
export const abbreviatedTenant: FieldCodec<AbbreviatedTenant> = {
  show: showTenant,
  encode: showTenant,
  decode: (json, field) => {
    // The clone of an error has lost its tenant, and shows `<redacted>`.
    if (json === REDACTED) return ok(AbbreviatedTenant.fromText(REDACTED));
    const isText = typeof json === "string" && ABBREVIATION.test(json);
    return isText ? ok(AbbreviatedTenant.fromText(json)) : invalid(field, "8 lowercase hex digits and two dots");
  },
};

function showTenant(value: unknown): string {
  // Another copy of this package has another class, so its text decides. Nothing longer is accepted.
  const text = isObject(value) && typeof value["toJSON"] === "function" ? (value["toJSON"]() as unknown) : undefined;
  return typeof text === "string" && ABBREVIATION.test(text) ? text : REDACTED;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

export function invalid(field: string, expected: string): Result<never, InvalidField> {
  return err({ kind: "InvalidField", field, expected });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
