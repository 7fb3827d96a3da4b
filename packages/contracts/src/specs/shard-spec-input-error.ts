/** Why a spec was refused. Sizes only. */
export type ShardSpecInputError =
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "MetadataTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "InvertedRange"; readonly startLen: number; readonly endLen: number };

/** Describes the error, for the message of a constructor that throws. */
export function specRefusalInWords(error: ShardSpecInputError): string {
  switch (error.kind) {
    case "KeyTooLarge":
      return `a bound of ${error.size} bytes is more than ${error.max}`;
    case "MetadataTooLarge":
      return `metadata of ${error.size} bytes is more than ${error.max}`;
    case "InvertedRange":
      return `its start (${error.startLen} bytes) is not below its end (${error.endLen} bytes)`;
  }
}
