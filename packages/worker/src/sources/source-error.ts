/** Why a source cannot be planned, opened or read. `reason` is one sentence for users, without credentials. */
export type SourceError =
  | { readonly kind: "SourceMissing"; readonly reason: string }
  | { readonly kind: "SourceUnreadable"; readonly reason: string }
  | { readonly kind: "SourceInvalid"; readonly reason: string };

export type SourceErrorKind = SourceError["kind"];
