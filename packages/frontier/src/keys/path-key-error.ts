import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";

/** Why text cannot be a path key. Sizes are in bytes of UTF-8. *Addition*: the seeds panic. */
export type PathKeyError =
  | { readonly kind: "EmptyPath" }
  /** The code unit at `index` is a lone surrogate: the path has no UTF-8 encoding. */
  | { readonly kind: "LoneSurrogate"; readonly index: number }
  | { readonly kind: "PathTooLarge"; readonly size: number; readonly max: number };

const { count } = JsonReader;

export const PathKeyError: JsonCodec<PathKeyError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<PathKeyError>({
    EmptyPath: {},
    LoneSurrogate: { index: count },
    PathTooLarge: { size: count, max: count },
  }),
);
