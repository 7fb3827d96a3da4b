import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { SinkFailed, type SinkFailedKind } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";

/** See that results can be written there before any work is done. */
export async function checkOut(path: string): Promise<Result<void, CliError>> {
  const folder = dirname(path);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    return fail(
      "OutputFailed",
      `the folder ${printableText(folder)} of --out ${isMissing ? "is not there: make it" : "may not be written to: give this user the right"}, or name another file.`,
    );
  }
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return ok(undefined);
  return fail("OutputFailed", `${printableText(path)} of --out is no file: name one.`);
}

/** What `--out` makes beside its file while a run goes on. */
export function partsOf(path: string): string {
  return `${path}.parts`;
}

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
