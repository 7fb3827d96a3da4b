// A loader hook that strips types, one file at a time and without checking them:
// `tsc -b` does the checking. Specifiers in our sources already name the `.ts` file,
// so resolution needs no help.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  inlineSourceMap: true,
  inlineSources: true,
};

export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const source = await readFile(fileName, "utf8");
  const { outputText } = ts.transpileModule(source, { fileName, compilerOptions: OPTIONS });
  return { format: "module", source: outputText, shortCircuit: true };
}
