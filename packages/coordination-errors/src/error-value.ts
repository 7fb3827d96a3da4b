import { errorCodec } from "./error-codecs.ts";
import type { ErrorJson, ErrorMethods } from "./error-fields.ts";
import type { ErrorKind } from "./error-routes.ts";
import { messageOf } from "./message-of.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/**
 * What all error values inherit: every way to print one.
 *
 * The fields are the value's own, so that `structuredClone` and spread keep them. Whatever prints goes through the
 * codecs, which know what may be shown.
 */
export class CoordErrorValue implements ErrorMethods {
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
    return errorCodec.encode(this) as ErrorJson;
  }

  // Every field, where the message may leave some out. The registered symbol, not `node:util`: this package runs
  // anywhere.
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return errorCodec.show(this);
  }
}

/** Give fields that are wrapped already the methods of an error. */
export function reviveError({
  kind,
  ...fields
}: {
  readonly kind: ErrorKind;
  readonly [field: string]: unknown;
}): AnyCoordError {
  return Object.assign(new CoordErrorValue(kind), fields) as unknown as AnyCoordError;
}
