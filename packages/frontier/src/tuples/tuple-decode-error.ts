import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";

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
