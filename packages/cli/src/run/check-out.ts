import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { printableText } from "../output/printable.ts";

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
