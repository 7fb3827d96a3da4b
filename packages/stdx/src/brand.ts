declare const brand: unique symbol;

/** A `T` that only its own constructor makes, so that ids of the same shape cannot be confused. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
