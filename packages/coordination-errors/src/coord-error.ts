import type { OpId } from "@gossip/contracts";
import { assert, Redacted } from "@gossip/stdx";
import { ERROR_CODECS } from "./error-codecs.ts";
import type { ErrorFields, ErrorOfKind, Hidden, RunOpIdConflict } from "./error-fields.ts";
import type { ErrorKind } from "./error-routes.ts";
import { CoordErrorValue, reviveError } from "./error-value.ts";
import { isObject, type FieldCodec } from "./field-codec.ts";

/** What the maker of an error passes: hidden fields in the clear. */
export type ErrorInput<K extends ErrorKind> = {
  readonly [F in keyof ErrorFields[K]]: ErrorFields[K][F] extends Hidden<infer T> ? T : ErrorFields[K][F];
};

type KindWithoutFields = { [K in ErrorKind]: keyof ErrorFields[K] extends never ? K : never }[ErrorKind];

/**
 * Make an error of one kind.
 *
 * Pass redacted fields as plain values: they are wrapped here, once, so that no caller has to remember. Only the kind's
 * own fields are taken over, whatever else the object that you pass may have. It costs what a small object costs, and
 * has no stack.
 */
export function coordError<K extends KindWithoutFields>(kind: K): ErrorOfKind<K>;
export function coordError<K extends ErrorKind>(kind: K, fields: ErrorInput<K>): ErrorOfKind<K>;
export function coordError(kind: ErrorKind, fields?: unknown): unknown {
  const layout = LAYOUT.get(kind);
  assert(layout !== undefined, "error kind must be a row of ERROR_ROUTES");
  const value = new CoordErrorValue(kind);
  if (layout.length === 0) return value;

  assert(isObject(fields), "an error of this kind must be given its fields");
  // `Object.assign` is 20 ns faster, but also copies undeclared fields. A literal with `__proto__` is slower.
  const own = value as unknown as Record<string, unknown>;
  for (const { name, hide } of layout) own[name] = hide === undefined ? fields[name] : hide(fields[name]);
  return value;
}

/** Makes the op id conflict that an operation on a run returns. It keeps no hashes: no caller could read them. */
export function runOpIdConflict(opId: OpId): RunOpIdConflict {
  return reviveError({ kind: "OpIdConflict", opId, expectedHash: NOTHING, actualHash: NOTHING }) as RunOpIdConflict;
}

const NOTHING = new Redacted(undefined);

interface FieldLayout {
  readonly name: string;
  readonly hide: ((inTheClear: unknown) => unknown) | undefined;
}

/** The fields of each kind, in order, with what wraps them. */
const LAYOUT: ReadonlyMap<string, readonly FieldLayout[]> = new Map(
  Object.entries<Readonly<Record<string, FieldCodec<unknown>>>>(ERROR_CODECS).map(([kind, codecs]) => [
    kind,
    Object.entries(codecs).map(([name, { hide }]) => ({ name, hide })),
  ]),
);
