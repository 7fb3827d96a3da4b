import { err, type Result } from "@gossip/stdx";
import { variantCodec, variantReader, type JsonCodec } from "../json/json-codec.ts";
import { JsonReader } from "../json/json-reader.ts";

/** Why a text is no id. The text itself is left out: it may be anything. */
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

/** The rule that a text broke which is known to be no id of so many digits: a string, of that length, of hex digits. */
export function refuseIdText(text: unknown, expected: number): Result<never, IdTextError> {
  if (typeof text !== "string") return err({ kind: "NotAString", given: typeof text });
  if (text.length !== expected) return err({ kind: "WrongTextLength", length: text.length, expected });
  return err({ kind: "NotLowercaseHex" });
}
