import { parseKeyText } from "@gossip/insight";
import type { Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";

export { decodeKey, KEY_FORMS, type DecodedKey } from "@gossip/insight";

/** Parse a key as users write it. Without a form it is text. */
export function parseKey(text: string): Result<Uint8Array, CliError> {
  const parsed = parseKeyText(text);
  return parsed.ok ? parsed : fail("BadCommandLine", parsed.error);
}
