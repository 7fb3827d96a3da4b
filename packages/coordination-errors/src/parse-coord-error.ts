import { err, ok, type Result } from "@gossip/stdx";
import { decodeError, type ErrorData } from "./error-codecs.ts";
import { isErrorKind } from "./error-kind.ts";
import type { ErrorKind } from "./error-routes.ts";
import { reviveError } from "./error-value.ts";
import { isObject } from "./field-codec.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/** Why something is not the JSON form of an error. Nothing of it is repeated, but for a kind that reads like one. */
export type CoordErrorParseError =
  | { readonly kind: "NotJson" }
  | { readonly kind: "NotAnObject"; readonly given: string }
  /** Perhaps the other end is newer. `given` is `undefined` where it does not read like the name of a kind. */
  | { readonly kind: "UnknownKind"; readonly given: string | undefined }
  | {
      readonly kind: "InvalidField";
      readonly of: ErrorKind;
      /** Where: names from the outside in, joined by dots. */
      readonly field: string;
      /** What is allowed there. */
      readonly expected: string;
    };

const KIND_NAME = /^[A-Z][A-Za-z]{1,39}$/;

/**
 * Read back what an error's `toJSON` gave: as a text, or as a value parsed from one.
 *
 * Fields that it does not know are ignored. What was hidden did not travel, so
 * `Redacted.reveal` gives `undefined` for it. To go on from here to the union of
 * an operation, use `narrowCoordError`.
 */
export function parseCoordError(json: unknown): Result<AnyCoordError, CoordErrorParseError> {
  const parsed = typeof json === "string" ? parseJson(json) : ok(json);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isObject(value) || Array.isArray(value)) return err({ kind: "NotAnObject", given: describeType(value) });

  const kind = value["kind"];
  if (!isErrorKind(kind))
    return err({ kind: "UnknownKind", given: typeof kind === "string" && KIND_NAME.test(kind) ? kind : undefined });

  const data = decodeError(value);
  if (!data.ok) return err({ kind: "InvalidField", of: kind, field: data.error.field, expected: data.error.expected });
  return ok(revive(data.value));
}

function revive(data: ErrorData): AnyCoordError {
  const wrapsOurs = data.kind === "RegisterShardsFailed" || data.kind === "GetRunFailed";
  return reviveError(wrapsOurs ? { ...data, reason: reviveError(data["reason"] as ErrorData) } : data);
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
