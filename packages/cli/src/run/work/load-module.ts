import { existsSync } from "node:fs";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";

/** The exports of a module. */
export type ModuleExports = Readonly<Record<string, unknown>>;

const TYPESCRIPT = new Set([".ts", ".mts"]);
const NEEDS_COMPILING = new Set([".tsx", ".cts", ".jsx"]);

/** Import a module of the user. The error says what is missing or wrong. */
export async function loadModule(file: string, shown: string): Promise<Result<ModuleExports, CliError>> {
  const type = extname(file);
  if (NEEDS_COMPILING.has(type))
    return fail("InvalidModule", `${shown} has to be compiled: name the .mjs or .js file that comes of it.`);
  if (TYPESCRIPT.has(type) && !canLoadTypeScript())
    return fail(
      "InvalidModule",
      `Node ${process.versions.node} cannot load ${shown}, which is TypeScript: use Node 22.18 or later, or compile it to JavaScript.`,
    );
  if (!existsSync(file)) return fail("InvalidModule", `there is no module ${shown}: correct the path after --module.`);
  try {
    // oxlint-disable-next-line import/no-dynamic-require -- the user names it
    return ok((await import(pathToFileURL(file).href)) as ModuleExports);
  } catch (thrown) {
    return fail("InvalidModule", `the module ${shown} cannot be loaded: ${whyNot(thrown)}.`);
  }
}

/** Whether this Node removes the types of a module that it loads. */
function canLoadTypeScript(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown };
  return typescript === "strip" || typescript === "transform";
}

function whyNot(thrown: unknown): string {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const [, missing, importer] =
      /Cannot find (?:package|module) '([^']*)'(?: imported from '?([^'\n]*)'?)?/.exec(message) ?? [];
    const by = importer === undefined ? "" : `, which ${printableText(importer)} imports`;
    if (missing !== undefined) return `"${printableText(missing)}"${by}, is missing; install it, or correct the import`;
  }
  return `${printableText(firstLine(thrown))}; correct it, and see that Node can import it`;
}

function firstLine(thrown: unknown): string {
  const [line = ""] = String(thrown instanceof Error ? thrown.message : thrown).split("\n");
  return line === "" ? "it failed without a message" : line;
}
