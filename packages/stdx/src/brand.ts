declare const brand: unique symbol;

/** A `T` that only its own constructor makes, so that two ids of one shape cannot be mixed up. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
