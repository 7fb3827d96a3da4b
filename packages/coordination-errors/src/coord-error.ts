import type { OpId } from "@gossip/contracts";
import { assert, Redacted } from "@gossip/stdx";
import { AbbreviatedTenant } from "./abbreviated-tenant.ts";
import { encodeError, ERROR_CODECS, isErrorKind, type ErrorData } from "./error-codecs.ts";
import type { ErrorFields, ErrorJson, ErrorMethods, ErrorOfKind, Hidden, RunOpIdConflict } from "./error-fields.ts";
import type { ErrorKind } from "./error-routes.ts";
import { messageOf } from "./message-of.ts";
import type { AnyCoordError } from "./operation-errors.ts";
import { showVariant } from "./variant-codec.ts";

/** What the maker of an error passes: hidden fields in the clear. */
export type ErrorInput<K extends ErrorKind> = {
  readonly [F in keyof ErrorFields[K]]: ErrorFields[K][F] extends Hidden<infer T> ? T : ErrorFields[K][F];
};

type KindWithoutFields = { [K in ErrorKind]: keyof ErrorFields[K] extends never ? K : never }[ErrorKind];

type KindWithHidden = {
  [K in ErrorKind]: Extract<ErrorFields[K][keyof ErrorFields[K]], Hidden<never>> extends never ? never : K;
}[ErrorKind];

/**
 * Make an error of one kind.
 *
 * Pass hidden fields as they are: they are wrapped here, once, so that nobody has
 * to remember. It costs what a small object costs, and has no stack.
 */
export function coordError<K extends KindWithoutFields>(kind: K): ErrorOfKind<K>;
export function coordError<K extends ErrorKind>(kind: K, fields: ErrorInput<K>): ErrorOfKind<K>;
export function coordError(kind: ErrorKind, fields?: ErrorInput<ErrorKind>): ErrorOfKind {
  assert(isErrorKind(kind), "error kind must be a row of ERROR_ROUTES");
  const hide = HIDE[kind as KindWithHidden] as ((fields: unknown) => object) | undefined;
  return makeErrorValue(kind, hide === undefined ? fields : hide(fields)) as ErrorOfKind;
}

/** Make the conflict of op ids that an operation on a run answers. The hashes are not kept: nobody could read them. */
export function runOpIdConflict(opId: OpId): RunOpIdConflict {
  const fields: ErrorFields["OpIdConflict"] = { opId, expectedHash: new Redacted(undefined), actualHash: new Redacted(undefined) };
  return makeErrorValue("OpIdConflict", fields) as ErrorOfKind<"OpIdConflict">;
}

/** Give data that was read from somewhere the methods of an error. Its hidden fields are wrapped already. */
export function reviveError({ kind, ...fields }: ErrorData): AnyCoordError {
  return makeErrorValue(kind, fields) as unknown as AnyCoordError;
}

/** Wraps what its kind hides. A kind with a hidden field that is missing here does not compile. */
const HIDE: { readonly [K in KindWithHidden]: (fields: ErrorInput<K>) => ErrorFields[K] } = {
  TenantMismatch: ({ expected }) => ({ expected: AbbreviatedTenant.of(expected) }),
  OpIdConflict: ({ opId, expectedHash, actualHash }) => ({
    opId,
    expectedHash: new Redacted(expectedHash),
    actualHash: new Redacted(actualHash),
  }),
  AlreadyLeased: ({ currentOwner, leaseDeadline }) => ({ currentOwner: new Redacted(currentOwner), leaseDeadline }),
};

/**
 * What all error values inherit: every way to print one.
 *
 * The fields are the value's own, so that `structuredClone` and spread keep them.
 */
class CoordErrorValue implements ErrorMethods {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind) {
    this.kind = kind;
  }

  get message(): string {
    return messageOf(this as unknown as AnyCoordError);
  }

  toString(): string {
    return `${this.kind}: ${this.message}`;
  }

  toJSON(): ErrorJson {
    return encodeError(this);
  }

  // Every field, where the message may leave some out. The registered symbol, not `node:util`: this package runs anywhere.
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return showVariant(ERROR_CODECS, this);
  }
}

function makeErrorValue(kind: ErrorKind, fields: object | undefined): CoordErrorValue {
  // A class and `Object.assign`: 40 ns. A literal with `__proto__`, or a spread into one, costs more.
  return Object.assign(new CoordErrorValue(kind), fields);
}
