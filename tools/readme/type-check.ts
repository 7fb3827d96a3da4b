// Type-checks the blocks in place, as if each were a file beside its page.
import { join } from "node:path";
import ts from "typescript";
import { readCompilerOptions } from "../api/program.ts";
import { ROOT } from "../layers/layers.ts";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";

/** An example need not use all that it shows. */
const OPTIONS: ts.CompilerOptions = {
  noUnusedLocals: false,
  noUnusedParameters: false,
  moduleDetection: ts.ModuleDetectionKind.Force,
};

export function typeCheckBlocks(blocks: readonly Block[]): Failure[] {
  const options = { ...readCompilerOptions(), ...OPTIONS };
  const byPath = new Map(blocks.map((block) => [join(ROOT, `${block.file}.${block.line}.example.ts`), block]));
  const program = ts.createProgram([...byPath.keys()], options, virtualHost(byPath, options));
  return [...byPath].flatMap(([path, block]) => {
    const source = program.getSourceFile(path)!;
    const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return diagnostics.map(({ start, messageText }) => ({
      file: block.file,
      line: block.line + source.getLineAndCharacterOfPosition(start ?? 0).line,
      what: ts.flattenDiagnosticMessageText(messageText, " "),
    }));
  });
}

function virtualHost(blocks: ReadonlyMap<string, Block>, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    fileExists: (path) => blocks.has(path) || host.fileExists(path),
    readFile: (path) => blocks.get(path)?.code ?? host.readFile(path),
    getSourceFile: (path, languageVersion, ...rest) => {
      const block = blocks.get(path);
      if (block === undefined) return host.getSourceFile(path, languageVersion, ...rest);
      return ts.createSourceFile(path, block.code, languageVersion, true);
    },
    resolveModuleNameLiterals: (literals, containingFile, _redirected, resolutionOptions) =>
      literals.map(({ text }) =>
        ts.resolveModuleName(
          text,
          originOf(text, containingFile, blocks),
          resolutionOptions,
          host,
          undefined,
          undefined,
          ts.ModuleKind.ESNext,
        ),
      ),
  };
}

/** A page outside the packages may import any of them: its import is resolved as if the package imported itself. */
function originOf(specifier: string, containingFile: string, blocks: ReadonlyMap<string, Block>): string {
  const block = blocks.get(containingFile);
  const name = /^@gossip\/([^/]+)/.exec(specifier)?.[1];
  if (block === undefined || name === undefined || block.file.startsWith("packages/")) return containingFile;
  return name === "tools" ? join(ROOT, "tools/example.ts") : join(ROOT, "packages", name, "example.ts");
}
