import { JsonReader, variantCodec, variantReader, type JsonCodec } from "@gossip/contracts";

/** Why bytes are no tuple. `offset` is where the faulty element starts. *Addition.* */
export type TupleDecodeError =
  /** The bytes end before the element does. */
  | { readonly kind: "Truncated"; readonly offset: number }
  /** No element that this package reads: also integers beyond 64 bits, 32-bit floats and versionstamps. */
  | { readonly kind: "UnknownTypeCode"; readonly offset: number }
  | { readonly kind: "InvalidUtf8"; readonly offset: number }
  /**
   * What is written here has other bytes by `encodeTuple`: a longer integer than needed, a NaN that is not the one it
   * writes, a zero in a descending part.
   */
  | { readonly kind: "NonCanonical"; readonly offset: number }
  /** Tuples within tuples, more than 64 deep. */
  | { readonly kind: "TooDeep"; readonly offset: number };

const offset = { offset: JsonReader.count };

export const TupleDecodeError: JsonCodec<TupleDecodeError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<TupleDecodeError>({
    Truncated: offset,
    UnknownTypeCode: offset,
    InvalidUtf8: offset,
    NonCanonical: offset,
    TooDeep: offset,
  }),
);
