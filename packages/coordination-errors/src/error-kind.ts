import { assert } from "@gossip/stdx";
import { ERROR_ROUTES, type ErrorKind, type Operation } from "./error-routes.ts";

/** Whether a value names a way to fail. */
export function isErrorKind(value: unknown): value is ErrorKind {
  // `hasOwn`: a kind from outside may be called "toString".
  return typeof value === "string" && Object.hasOwn(ERROR_ROUTES, value);
}

/** Whether an operation can fail in that way. */
export function canFailWith(operation: Operation, kind: ErrorKind): boolean {
  return ERROR_ROUTES[kind][operation] !== "no";
}

/** Throws unless the `kind` of `error` is one of this package. Accepts a clone. `what` starts the message. */
export function assertErrorKind(error: unknown, what: string): void {
  const isOurs = typeof error === "object" && error !== null && isErrorKind((error as { kind?: unknown }).kind);
  // No closure for the message unless it is needed: `adviceFor` may not allocate.
  if (!isOurs) assert(false, `${what} must be an error of this package`);
}
