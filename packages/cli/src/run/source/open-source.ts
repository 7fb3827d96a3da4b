import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { fileTreeSource, linesSource, type FileItem, type LineItem, type TreeCandidate } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText, textField } from "../../output/printable.ts";
import { systemCode } from "../../output/system-code.ts";
import { openList, type ListInput } from "../list/list-source.ts";
import { openBucket } from "./bucket-source.ts";
import { excludeBelow } from "./exclude-below.ts";
import type { JobSource } from "./job-source.ts";
import { lineFields } from "./line-fields.ts";
import { limitedSource } from "./limited-source.ts";
import { excludeByGlobs } from "./path-globs.ts";
import { checkSelection, type Selection } from "./selection.ts";
import { openTable } from "./table-source.ts";

export interface SourceSurroundings {
  readonly cwd: string;
  /** Files and folders of this command itself, which are not items. */
  readonly own: readonly string[];
  readonly selection: Selection;
  /** Where lists from stdin are kept. */
  readonly listFolder: string;
  readonly stdin: ListInput | undefined;
}

const WHAT_IT_IS = "give --source fs:FOLDER, lines:FILE, list:FILE, list:-, postgres:URL#TABLE or s3://BUCKET/PREFIX";

/** Open the source that `--source` names. */
export async function openSource(text: string, surroundings: SourceSurroundings): Promise<Result<JobSource, CliError>> {
  const [, kind, rest = ""] = /^(fs|lines|list|s3|postgres|postgresql):([^]*)$/.exec(text) ?? [];
  if (kind === undefined) return fail("BadCommandLine", `--source is not of a known kind: ${WHAT_IT_IS}.`);
  if (rest === "") return fail("BadCommandLine", `--source names nothing after "${kind}:": ${WHAT_IT_IS}.`);
  const { cwd, selection } = surroundings;
  const checked = checkSelection(kind === "postgresql" ? "postgres" : kind, selection);
  if (!checked.ok) return checked;
  const opened =
    kind === "fs"
      ? await openTree(resolve(cwd, rest), surroundings)
      : kind === "lines"
        ? await openLines(resolve(cwd, rest))
        : kind === "list"
          ? await openListAt(rest, surroundings)
          : kind === "s3"
            ? await openBucket(text, selection)
            : await openTable(rest.startsWith("//") ? `postgres:${rest}` : rest, selection);
  if (!opened.ok || selection.limit === undefined) return opened;
  return ok({ ...opened.value, source: limitedSource(opened.value.source, selection.limit) });
}

async function openTree(root: string, { own, selection }: SourceSurroundings): Promise<Result<JobSource, CliError>> {
  const checked = await checkPath(root, "folder");
  if (!checked.ok) return checked;
  const tests = [await excludeBelow(root, own), excludeByGlobs(selection)].filter((test) => test !== undefined);
  const exclude = (candidate: TreeCandidate): boolean => tests.some((isExcluded) => isExcluded(candidate));
  return ok({
    source: fileTreeSource(tests.length === 0 ? { root } : { root, exclude }),
    identity: `fs:${root}`,
    argumentOf: (item) => (item as FileItem).pathBytes,
    checkName: (item) => (item as FileItem).checkPath(),
    fieldsOf: (item) => textField("path", (item as FileItem).pathBytes),
  });
}

async function openLines(path: string): Promise<Result<JobSource, CliError>> {
  const checked = await checkPath(path, "file");
  if (!checked.ok) return checked;
  return ok({
    source: linesSource({ path }),
    identity: `lines:${path}`,
    argumentOf: (item) => (item as LineItem).bytes,
    fieldsOf: (item) => lineFields(item as LineItem),
  });
}

async function openListAt(
  text: string,
  { cwd, selection, listFolder: folder, stdin }: SourceSurroundings,
): Promise<Result<JobSource, CliError>> {
  if (text === "-") return ok(openList({ path: undefined, selection, folder, stdin }));
  const path = resolve(cwd, text);
  const checked = await checkPath(path, "file", "list:");
  return checked.ok ? ok(openList({ path, selection, folder, stdin })) : checked;
}

async function checkPath(
  path: string,
  wanted: "folder" | "file",
  prefix = wanted === "folder" ? "fs:" : "lines:",
): Promise<Result<void, CliError>> {
  const shown = printableText(path);
  try {
    const found = await stat(path);
    if (wanted === "folder" ? found.isDirectory() : found.isFile()) return ok(undefined);
    return fail("SourceInvalid", `${shown} is not a ${wanted}: name a ${wanted} after ${prefix}.`);
  } catch (thrown) {
    const code = systemCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR")
      return fail("SourceMissing", `there is no ${wanted} ${shown}: correct the path after ${prefix}, or create it.`);
    return fail(
      "SourceUnreadable",
      `${shown} cannot be read (${code ?? "for an unknown reason"}): give this user the right to read it.`,
    );
  }
}
