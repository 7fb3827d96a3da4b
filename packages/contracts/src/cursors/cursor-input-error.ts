import { variantCodec, variantReader, type JsonCodec } from "../json/json-codec.ts";
import { JsonReader } from "../json/json-reader.ts";

/** Why a cursor was refused. Sizes only. */
export type CursorInputError =
  | { readonly kind: "EmptyLastKey" }
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "TokenTooLarge"; readonly size: number; readonly max: number };

export const CursorInputError: JsonCodec<CursorInputError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<CursorInputError>({
    EmptyLastKey: {},
    KeyTooLarge: { size: JsonReader.count, max: JsonReader.count },
    TokenTooLarge: { size: JsonReader.count, max: JsonReader.count },
  }),
);
