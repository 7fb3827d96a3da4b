import { SinkFailed, type SinkFailedKind } from "@gossip/worker";
import type { CliError } from "../output/cli-error.ts";
import { printableText } from "../output/printable.ts";
import { partsOf } from "./check-out.ts";

/** Why results cannot be written or put together, and what to do. */
export function sinkSentence(
  { kind, reason }: { readonly kind: SinkFailedKind; readonly reason: string },
  out: string | undefined,
): CliError {
  return { kind: "OutputFailed", message: `${printableText(reason)}: ${nextStep(kind, out)}.` };
}

/** The same, for whatever a sink threw. */
export function thrownSentence(thrown: unknown, out: string | undefined): CliError {
  if (thrown instanceof SinkFailed) return sinkSentence({ kind: thrown.kind, reason: thrown.message }, out);
  return {
    kind: "OutputFailed",
    message: "the results could not be written: see to their disk, then run the same command again; nothing was lost.",
  };
}

function nextStep(kind: SinkFailedKind, out: string | undefined): string {
  switch (kind) {
    case "PartMissing":
      return `bring back the folder ${printableText(partsOf(out ?? ""))}, which every machine of the run must see, or start over with \`gossip cancel\` and --again`;
    case "PartDamaged":
      return "restore that file from a backup, or start over with `gossip cancel` and --again";
    case "ResultsMissing":
    case "ResultsDamaged":
      return "bring back the file that was written, or start over with --again";
    case "TokenInvalid":
      return "start over with `gossip cancel` and --again";
    case "NotJson":
      return "let the module return what JSON can hold, then run the same command again";
    case "DiskFull":
    case "Unwritable":
      return "see to it, then run the same command again; nothing was lost";
  }
}
