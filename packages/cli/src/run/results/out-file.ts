import { constants } from "node:fs";
import { access, lstat, readdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { SinkFailed, type SinkFailedKind } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";

/** The absolute path of `--out`. A slash at its end stays: it means a folder of parts. */
export function outPath(cwd: string, text: string): string {
  return `${resolve(cwd, text)}${isFolder(text) ? "/" : ""}`;
}

function isFolder(path: string): boolean {
  return path.endsWith("/");
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/** Where the results of a retry go: next to those of its run, in the same form. */
export function retryPath(out: string, number: number): string {
  const [, name = "", ending = ""] = /^(.*?)((?:\.gz)?\/*)$/s.exec(out) ?? [];
  return `${name}.retry-${number}${ending}`;
}

/** Check that results can be written, before any work is done. */
export async function checkOut(path: string): Promise<Result<void, CliError>> {
  const folder = dirname(path);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    return fail(
      "OutputFailed",
      `the folder ${printableText(folder)} of --out ${isMissing ? "does not exist: create it" : "is not writable: give this user the right"}, or name another file.`,
    );
  }
  const found = await stat(withoutSlash(path)).catch(() => undefined);
  if (found === undefined) return ok(undefined);
  // Results in a folder take its place, and a folder cannot take that of a link.
  const isLink = (await lstat(withoutSlash(path)).catch(() => undefined))?.isSymbolicLink() === true;
  if (isFolder(path) && isLink)
    return fail("OutputFailed", `${printableText(path)} of --out is a link: name the folder that it leads to.`);
  if (isFolder(path))
    return found.isDirectory()
      ? ok(undefined)
      : fail("OutputFailed", `${printableText(path)} of --out is not a folder: leave out the slash, or name another.`);
  if (found.isFile()) return ok(undefined);
  return fail(
    "OutputFailed",
    `${printableText(path)} of --out is not a file: name one${found.isDirectory() ? ", or put a slash behind the folder" : ""}.`,
  );
}

/** Check that no other run has written, or is writing, its results there. An empty file or folder counts as free. */
export async function checkOutIsFree(path: string): Promise<Result<void, CliError>> {
  const shown = printableText(path);
  if ((await stat(partsOf(path)).catch(() => undefined)) !== undefined)
    return fail(
      "OutputExists",
      `another run is writing its results to ${shown} (its parts are in ${printableText(partsOf(path))}): name another file with --out, or give --overwrite.`,
    );
  if (await isEmpty(path)) return ok();
  return fail(
    "OutputExists",
    `${shown} exists, and another run or program wrote it: name another file with --out, or give --overwrite to replace it.`,
  );
}

async function isEmpty(path: string): Promise<boolean> {
  if (isFolder(path)) return (await readdir(path).catch(() => [])).length === 0;
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.size === 0;
}

/** The folder next to `--out` that holds its parts during a run. */
export function partsOf(path: string): string {
  return `${withoutSlash(path)}.parts`;
}

/** The error for results that cannot be written or assembled, with what to do. */
export function sinkSentence(
  { kind, reason }: { readonly kind: SinkFailedKind; readonly reason: string },
  out: string | undefined,
): CliError {
  return { kind: "OutputFailed", message: `${printableText(reason)}: ${nextStep(kind, out)}.` };
}

/** The same for an exception that a sink threw. */
export function thrownSentence(thrown: unknown, out: string | undefined): CliError {
  if (thrown instanceof SinkFailed) return sinkSentence({ kind: thrown.kind, reason: thrown.message }, out);
  return {
    kind: "OutputFailed",
    message: "the results could not be written: check their disk, then run the same command again; nothing was lost.",
  };
}

function nextStep(kind: SinkFailedKind, out: string | undefined): string {
  switch (kind) {
    case "PartMissing":
      return `bring back the folder ${printableText(partsOf(out ?? ""))}, which every machine of the run must see, or start over with \`gossip cancel RUN\` and the same command with --again`;
    case "PartDamaged":
      return "restore that file from a backup, or start over with `gossip cancel RUN` and the same command with --again";
    case "ResultsMissing":
    case "ResultsDamaged":
      return "restore the file that was written, or start over with the same command and --again";
    case "TokenInvalid":
      return "start over with `gossip cancel RUN` and the same command with --again";
    case "NotJson":
    case "ResultTooLarge":
      return "let the module return what JSON can hold, then run the same command again";
    case "DiskFull":
    case "Unwritable":
      return "fix that, then run the same command again; nothing was lost";
  }
}
