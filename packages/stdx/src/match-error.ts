/** One handler for each kind that `E` can be. */
export type ErrorHandlers<E extends { readonly kind: string }, R> = {
  readonly [K in E["kind"]]: (error: Extract<E, { readonly kind: K }>) => R;
};

/**
 * Handle an error by its kind, all kinds or it does not compile.
 *
 * Unlike a `switch` with a `never` default it also works for a union of one.
 */
export function matchError<E extends { readonly kind: string }, R>(error: E, handlers: ErrorHandlers<E, R>): R {
  const handle = handlers[error.kind as E["kind"]] as (error: E) => R;
  return handle(error);
}
