import type { SourceError } from "@gossip/worker";
import type { CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";

/** The error to print for a source that no run can begin with. The source itself says what is wrong. */
export function sourceSentence({ kind, reason }: SourceError): CliError {
  const wrong = printableText(reason);
  if (kind === "SourceUnreadable")
    return { kind, message: `${wrong}: check the source, or correct --source, then try again.` };
  return { kind, message: `${wrong}: correct --source, or the options that belong to it, then try again.` };
}
