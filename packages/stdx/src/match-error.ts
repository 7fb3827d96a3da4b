import { assert } from "./assert.ts";
import { nameKind, nameType } from "./name-type.ts";

/** One handler for each kind that `E` can be. */
export type ErrorHandlers<E extends { readonly kind: string }, R> = {
  readonly [K in E["kind"]]: (error: Extract<E, { readonly kind: K }>) => R;
};

/** Rejects a handler for a kind that `E` cannot be: it would never run. */
type NoOthers<E extends { readonly kind: string }, H> = { readonly [K in Exclude<keyof H, E["kind"]>]: never };

/**
 * Calls the handler for the error's kind. Does not compile unless every kind has one.
 *
 * Unlike a `switch` with a `never` default, this also works for a union of one. Throws
 * `InvariantViolation` for a kind that the types do not list, for example from a newer version of a package.
 */
export function matchError<E extends { readonly kind: string }, H extends ErrorHandlers<E, unknown>>(
  error: E,
  handlers: H & NoOthers<E, H>,
): ReturnType<H[E["kind"]]>;
/** With the result's type given instead of inferred. */
export function matchError<E extends { readonly kind: string }, R>(error: E, handlers: ErrorHandlers<E, R>): R;
export function matchError<E extends { readonly kind: string }>(
  error: E,
  handlers: ErrorHandlers<E, unknown>,
): unknown {
  assert(
    typeof error === "object" && error !== null,
    () => `error must be an object with a kind, got ${nameType(error)}`,
  );
  assert(
    typeof handlers === "object" && handlers !== null,
    () => `handlers must be an object, got ${nameType(handlers)}`,
  );
  // Own properties only: an error of kind "toString" must not find the method that every object inherits.
  const handle: unknown = Object.hasOwn(handlers, error.kind) ? handlers[error.kind as E["kind"]] : undefined;
  assert(typeof handle === "function", () => `there is no handler for an error of kind ${nameKind(error)}`);
  return (handle as (error: E) => unknown)(error);
}
