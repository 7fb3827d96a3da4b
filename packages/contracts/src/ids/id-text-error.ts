import { err, type Result } from "@gossip/stdx";
import { variantCodec, variantReader, type JsonCodec } from "../json/json-codec.ts";
import { JsonReader } from "../json/json-reader.ts";

/** Why text is not an id. Does not contain the text: it may be anything. */
export type IdTextError =
  | { readonly kind: "NotAString"; readonly given: string }
  | { readonly kind: "WrongTextLength"; readonly length: number; readonly expected: number }
  | { readonly kind: "NotLowercaseHex" };

export const IdTextError: JsonCodec<IdTextError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<IdTextError>({
    NotAString: { given: JsonReader.typeName },
    WrongTextLength: { length: JsonReader.count, expected: JsonReader.count },
    NotLowercaseHex: {},
  }),
);

/** Returns why a malformed id was refused: not a string, wrong length, or not lowercase hex. */
export function refuseIdText(text: unknown, expected: number): Result<never, IdTextError> {
  if (typeof text !== "string") return err({ kind: "NotAString", given: typeof text });
  if (text.length !== expected) return err({ kind: "WrongTextLength", length: text.length, expected });
  return err({ kind: "NotLowercaseHex" });
}
