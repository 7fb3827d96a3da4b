/**
 * The outcome of something that may fail in an expected way.
 *
 * It is a plain object, so that it survives `structuredClone`, a worker boundary
 * and two copies of this package in one program. Check `ok`, then use the rest:
 * `if (!r.ok) return r;` is all the propagation there is.
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
