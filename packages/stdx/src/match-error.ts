import { assert } from "./assert.ts";
import { nameType } from "./name-type.ts";

/** One handler for each kind that `E` can be. */
export type ErrorHandlers<E extends { readonly kind: string }, R> = {
  readonly [K in E["kind"]]: (error: Extract<E, { readonly kind: K }>) => R;
};

/** Refuses a handler for a kind that `E` cannot be: it would never run. */
type NoOthers<E extends { readonly kind: string }, H> = { readonly [K in Exclude<keyof H, E["kind"]>]: never };

/**
 * Handle an error by its kind, all kinds or it does not compile.
 *
 * Unlike a `switch` with a `never` default it also works for a union of one. A
 * kind that the types do not know, from a newer copy of a package perhaps,
 * throws `InvariantViolation`.
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
  // Own ones only: an error of kind "toString" must not find the one that every object has.
  const handle: unknown = Object.hasOwn(handlers, error.kind) ? handlers[error.kind as E["kind"]] : undefined;
  assert(typeof handle === "function", () => `there is no handler for an error of kind ${String(error.kind)}`);
  return (handle as (error: E) => unknown)(error);
}
