import { err, ok, Redacted, type Result } from "@gossip/stdx";
import { errorCodec, type ErrorData } from "./error-codecs.ts";
import { isErrorKind } from "./error-kind.ts";
import type { ErrorKind } from "./error-routes.ts";
import { reviveError } from "./error-value.ts";
import { isObject } from "./field-codec.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/** Why a value is not the JSON form of an error. Never shows the value itself. */
export type CoordErrorParseError =
  | { readonly kind: "NotJson" }
  | { readonly kind: "NotAnObject"; readonly given: string }
  /**
   * The other end may be newer. `given` holds the kind only if it looks like one: a capital letter and up to 39 more
   * letters. It prints as `<redacted>`, because anything can look like that; use `Redacted.reveal` to compare it.
   */
  | { readonly kind: "UnknownKind"; readonly given: Redacted<string | undefined> }
  | {
      readonly kind: "InvalidField";
      readonly of: ErrorKind;
      /** The path to the field: names from the outside in, joined by dots. */
      readonly field: string;
      /** What the field may hold. */
      readonly expected: string;
    };

const KIND_NAME = /^[A-Z][A-Za-z]{1,39}$/;

/**
 * Reads the JSON form of an error, as text or as a parsed value.
 *
 * Ignores unknown fields. Redacted values are not in the JSON, so `Redacted.reveal` returns `undefined` for them. To
 * narrow the result to the errors of one operation, use `narrowCoordError`.
 */
export function parseCoordError(json: unknown): Result<AnyCoordError, CoordErrorParseError> {
  const parsed = typeof json === "string" ? parseJson(json) : ok(json);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isObject(value) || Array.isArray(value)) return err({ kind: "NotAnObject", given: describeType(value) });

  const kind = value["kind"];
  if (!isErrorKind(kind)) {
    const given = typeof kind === "string" && KIND_NAME.test(kind) ? kind : undefined;
    return err({ kind: "UnknownKind", given: new Redacted(given) });
  }

  const data = errorCodec.decode(value, "");
  if (!data.ok) return err({ kind: "InvalidField", of: kind, field: data.error.field, expected: data.error.expected });
  return ok(revive(data.value));
}

function revive(data: ErrorData): AnyCoordError {
  const wrapsOurs = data.kind === "RegisterShardsFailed" || data.kind === "GetRunFailed";
  return reviveError(wrapsOurs ? { ...data, reason: reviveError({ ...data.reason }) } : data);
}

function parseJson(text: string): Result<unknown, CoordErrorParseError> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch {
    return err({ kind: "NotJson" });
  }
}

function describeType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
