import { assert, type Result } from "@gossip/stdx";
import { adviceFor, type Advice } from "./advice.ts";
import { encodeError } from "./error-codecs.ts";
import { assertErrorKind } from "./error-kind.ts";
import type { Operation } from "./error-routes.ts";
import { isObject } from "./field-codec.ts";
import { messageOf } from "./message-of.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/** Registered, so that every copy of this package in a program means the same one. */
const BRAND = Symbol.for("@gossip/coordination-errors/OperationFailed");

/**
 * An operation's error as something to throw, for people who prefer `catch`.
 *
 * Recognize it with `isOperationFailed`, never with `instanceof`: two copies of
 * this package have two classes. The error itself is its `cause`.
 */
export class OperationFailed<E extends AnyCoordError = AnyCoordError> extends Error {
  override readonly name = "OperationFailed";
  declare readonly cause: E;
  readonly kind: E["kind"];
  readonly advice: Advice;

  constructor(error: E, operation?: Operation) {
    assertErrorKind(error, "what failed an operation");
    super(`${operation ?? "operation"} failed with ${error.kind}: ${messageOf(error, operation)}`, { cause: error });
    this.kind = error.kind;
    this.advice = adviceFor(error);
  }

  get [BRAND](): true {
    return true;
  }

  toJSON(): object {
    return { name: this.name, message: this.message, advice: this.advice, cause: encodeError(this.cause) };
  }
}

/** Whether something that was caught is an `OperationFailed` of this or another copy of the package. */
export function isOperationFailed(thrown: unknown): thrown is OperationFailed {
  return isObject(thrown) && (thrown as { readonly [BRAND]?: unknown })[BRAND] === true;
}

/** The value of a result; a failure is thrown as `OperationFailed`. */
export function orThrow<T>(result: Result<T, AnyCoordError>, operation?: Operation): T {
  assert(isObject(result) && typeof result.ok === "boolean", "what is unwrapped must be a Result");
  if (result.ok) return result.value;
  throw new OperationFailed(result.error, operation);
}
