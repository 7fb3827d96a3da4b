// The compiler's JavaScript API over our sources, with the options that `tsc -b` uses.
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../layers/layers.ts";

/** What tsconfig.base.json says, for reading only: nothing is written and nothing is kept between runs. */
export function readCompilerOptions(): ts.CompilerOptions {
  const file = join(ROOT, "tsconfig.base.json");
  const { config, error } = ts.readConfigFile(file, (path) => ts.sys.readFile(path));
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"));
  const { options, errors } = ts.parseJsonConfigFileContent(
    { compilerOptions: (config as { compilerOptions: unknown }).compilerOptions, files: [] },
    ts.sys,
    ROOT,
  );
  // "No inputs were found" is the one complaint to expect: the caller names the files.
  const real = errors.filter((diagnostic) => diagnostic.code !== 18002);
  if (real.length > 0)
    throw new Error(real.map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n")).join("\n"));
  const { incremental: _incremental, composite: _composite, declaration: _declaration, ...rest } = options;
  return { ...rest, noEmit: true, allowImportingTsExtensions: true, rewriteRelativeImportExtensions: false };
}
