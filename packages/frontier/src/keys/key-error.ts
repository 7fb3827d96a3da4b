/** Why text cannot be a path key. Sizes are in bytes of UTF-8. *Addition*: the seeds panic. */
export type PathKeyError =
  | { readonly kind: "EmptyPath" }
  /** The code unit at `index` is a lone surrogate: the path has no UTF-8 encoding. */
  | { readonly kind: "LoneSurrogate"; readonly index: number }
  | { readonly kind: "PathTooLarge"; readonly size: number; readonly max: number };

/** Why two values cannot be a manifest row key: `field` is not an unsigned 64-bit bigint. *Addition*: the seeds have a type for those. */
export interface ManifestRowKeyError {
  readonly kind: "NotU64";
  readonly field: "manifestId" | "row";
}
