/** Why a tuple cannot be a key. `partIndex` is the position in the outermost tuple. *Addition.* */
export type TupleEncodeError =
  /** A value that no tuple can hold. `given` is its JavaScript type. */
  | { readonly kind: "UnsupportedElement"; readonly partIndex: number; readonly given: string }
  /** An integer beyond ±(2^64 − 1). */
  | { readonly kind: "IntegerTooLarge"; readonly partIndex: number }
  /** A string with a lone surrogate: it has no UTF-8 encoding. */
  | { readonly kind: "LoneSurrogateInPart"; readonly partIndex: number }
  | { readonly kind: "WrongUuidSize"; readonly partIndex: number; readonly size: number }
  /** Tuples within tuples, more than 64 deep. */
  | { readonly kind: "PartTooDeep"; readonly partIndex: number }
  /**
   * A descending part with a zero byte in its string or bytes, or a null in its nested tuple. Its complement would sort
   * on the wrong side of what it begins with.
   */
  | { readonly kind: "ZeroInDescending"; readonly partIndex: number }
  /**
   * A null right after a string, bytes or a nested tuple of the other direction. Its byte would look like a part of
   * what ends there.
   */
  | { readonly kind: "AmbiguousNull"; readonly partIndex: number }
  /** `size` counts up to the part with which the tuple became too large. */
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number };

/** Why bytes are not a tuple. `offset` is where the faulty element starts. *Addition.* */
export type TupleDecodeError =
  /** The bytes end before the element does. */
  | { readonly kind: "Truncated"; readonly offset: number }
  /** Not an element that this package reads. Integers beyond 64 bits, 32-bit floats and versionstamps are not read. */
  | { readonly kind: "UnknownTypeCode"; readonly offset: number }
  | { readonly kind: "InvalidUtf8"; readonly offset: number }
  /** `encodeTuple` never writes this: an integer longer than needed, or a zero in a descending part. */
  | { readonly kind: "NonCanonical"; readonly offset: number }
  /** Tuples within tuples, more than 64 deep. */
  | { readonly kind: "TooDeep"; readonly offset: number };
