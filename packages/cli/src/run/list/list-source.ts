import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { linesSource, type LineItem, type Source } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import { lineFields } from "../source/line-fields.ts";
import type { JobSource, PrepareRequest } from "../source/job-source.ts";
import type { Selection } from "../source/selection.ts";
import { isListWhole, listFile, spoolList } from "./spool-list.ts";

export interface ListOptions {
  /** An absolute path, or `undefined` for stdin. */
  readonly path: string | undefined;
  readonly selection: Selection;
  /** Where lists from stdin, and lists without repetitions, are kept. */
  readonly folder: string;
  readonly stdin: ListInput | undefined;
}

/** The standard input of the command. */
export type ListInput = AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };

const NO_INPUT =
  "list:- reads the list from stdin, and there is none: pipe one in, as in `find . -print0 | gossip run --source list:- -0 --exec …`.";

/** The entries of a list, in any order. Empty entries are left out. */
export function openList({ path, selection, folder, stdin }: ListOptions): JobSource {
  const separator = selection.null === true ? "nul" : "newline";
  const sourceAt = (file: string): Source<LineItem> => linesSource({ path: file, separator, skipsEmpty: true });
  const common = {
    identity: `list:${path ?? "-"}`,
    argumentOf: (item: object) => (item as LineItem).bytes,
    fieldsOf: (item: object) => lineFields(item as LineItem),
  };
  if (path !== undefined && selection.unique !== true) return { source: sourceAt(path), ...common };

  let stored: Source<LineItem> | undefined;
  let file: string | undefined;
  const use = (digest: string): string => {
    file = listFile(folder, digest);
    stored = sourceAt(file);
    return digest;
  };
  return {
    source: deferred(() => stored),
    ...common,
    isPiped: path === undefined && stdin !== undefined && stdin.isTTY !== true,
    async prepare({ list, signal }: PrepareRequest): Promise<Result<string, CliError>> {
      if (list !== undefined) return (await isListWhole(folder, list)) ? ok(use(list)) : err(listMissing(folder));
      if (path === undefined && (stdin === undefined || stdin.isTTY === true)) return fail("BadCommandLine", NO_INPUT);
      const input = path === undefined ? stdin! : createReadStream(path);
      const isUnique = selection.unique === true;
      const spooled = await spoolList({ folder, input, separator: separator === "nul" ? 0 : 0x0a, isUnique, signal });
      return spooled.ok && spooled.value !== "Aborted" ? ok(use(spooled.value)) : spooled;
    },
    discard: async () => {
      if (file !== undefined) await rm(file, { force: true });
    },
  };
}

function listMissing(folder: string): CliError {
  return {
    kind: "SourceMissing",
    message: `the list of this run is not in ${printableText(folder)}, where it was stored when the run began: run the command on that machine, or start over with \`gossip cancel RUN\` and the same command with --again.`,
  };
}

/** A source that is known once the list is stored. */
function deferred(get: () => Source<LineItem> | undefined): Source<LineItem> {
  const source = (): Source<LineItem> => {
    const known = get();
    assert(known !== undefined, "a list is stored before it is read");
    return known;
  };
  return {
    name: "lines",
    plan: (request) => source().plan(request),
    read: (request) => source().read(request),
    splitPoint: (request) => source().splitPoint!(request),
    estimate: (request) => source().estimate!(request),
    describeKey: (key) => get()?.describeKey?.(key) ?? Buffer.from(key).toString("hex"),
  };
}
