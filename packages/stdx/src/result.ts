import { assert, assertObject, InvariantViolation, nameKind } from "./assert.ts";

/**
 * The outcome of something that may fail in an expected way.
 *
 * It is a plain object, so that it survives `structuredClone`, a worker boundary and two copies of this package in one
 * program. Check `ok`, then use the rest: `if (!r.ok) return r;` is all the propagation there is.
 */
export type Result<T, E> = Ok<T> | Err<E>;

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<E> {
  readonly ok: false;
  readonly error: E;
}

/** Shared by every success that carries nothing: such a success allocates nothing. */
const OK_VOID: Ok<void> = Object.freeze({ ok: true, value: undefined });

export function ok(): Ok<void>;
export function ok<T>(value: T): Ok<T>;
export function ok<T>(value?: T): Ok<T | void> {
  return value === undefined ? OK_VOID : { ok: true, value };
}

export function err<const E>(error: E): Err<E> {
  return { ok: false, error };
}

/**
 * Returns the value of a result that cannot have failed here.
 *
 * Throws `InvariantViolation` if it did fail. The message contains the error's `kind` and nothing else of the error,
 * because the rest may be user data.
 */
export function unwrap<T>(result: Result<T, unknown>): T {
  assertObject(result, "a result to unwrap");
  if (result.ok) return result.value;
  throw new InvariantViolation(`unwrapped a failure of kind ${nameKind(result.error)}`);
}

/** One handler for each kind that `E` can be. */
export type ErrorHandlers<E extends { readonly kind: string }, R> = {
  readonly [K in E["kind"]]: (error: Extract<E, { readonly kind: K }>) => R;
};

/** Rejects a handler for a kind that `E` cannot be: it would never run. */
type NoOthers<E extends { readonly kind: string }, H> = { readonly [K in Exclude<keyof H, E["kind"]>]: never };

/**
 * Calls the handler for the error's kind. Does not compile unless every kind has one.
 *
 * Unlike a `switch` with a `never` default, this also works for a union of one. Throws `InvariantViolation` for a kind
 * that the types do not list, for example from a newer version of a package.
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
  assertObject(error, "error");
  assertObject(handlers, "handlers");
  // Own properties only: an error of kind "toString" must not find the method that every object inherits.
  const handle: unknown = Object.hasOwn(handlers, error.kind) ? handlers[error.kind as E["kind"]] : undefined;
  assert(typeof handle === "function", () => `there is no handler for an error of kind ${nameKind(error)}`);
  return (handle as (error: E) => unknown)(error);
}
