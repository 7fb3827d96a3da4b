import { err, type Result } from "@gossip/stdx";

/** Why text is not an id. Does not contain the text: it may be anything. */
export type IdTextError =
  | { readonly kind: "NotAString"; readonly given: string }
  | { readonly kind: "WrongTextLength"; readonly length: number; readonly expected: number }
  | { readonly kind: "NotLowercaseHex" };

/** Returns why a malformed id was refused: not a string, wrong length, or not lowercase hex. */
export function refuseIdText(text: unknown, expected: number): Result<never, IdTextError> {
  if (typeof text !== "string") return err({ kind: "NotAString", given: typeof text });
  if (text.length !== expected) return err({ kind: "WrongTextLength", length: text.length, expected });
  return err({ kind: "NotLowercaseHex" });
}
