// TypeScript to JavaScript, one file at a time and without checking it. Uses the transformer that vite brings along:
// the TypeScript compiler takes longer to load than most of our commands take to run.
import { transformSync } from "rolldown/utils";

/** What the transformer imports where it cannot write a feature in place: `using`, as of today. */
const HELPERS = "@oxc-project/runtime";

/** Returns the code with its source map inline. Throws `SyntaxError` if the source does not parse. */
export async function stripTypes(fileName, source, { rewritesExtensions = false } = {}) {
  const typescript = { onlyRemoveTypeImports: true, rewriteImportExtensions: rewritesExtensions && "rewrite" };
  const { code, map, errors } = transformSync(fileName, source, { target: "es2023", sourcemap: true, typescript });
  if (errors.length > 0) throw new SyntaxError(`${fileName}: ${errors.map(({ message }) => message).join("; ")}`);
  if (code.includes(HELPERS)) return compile(fileName, source, rewritesExtensions);
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}\n`;
}

async function compile(fileName, source, rewritesExtensions) {
  const { default: ts } = await import("typescript");
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: rewritesExtensions,
    inlineSourceMap: true,
    inlineSources: true,
  };
  return ts.transpileModule(source, { fileName, compilerOptions }).outputText;
}
