// The API reference: every export of a package's main entry, with its comment and its declaration as it is shipped.
import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { PACKAGES, packageFolder, readManifest } from "../layers/layers.ts";
import { readCompilerOptions } from "../api/program.ts";
import { anchorOf } from "../tidy/links.ts";
import { highlight } from "./highlight.ts";
import type { SitePage } from "./pages.ts";

export interface ApiEntry {
  readonly package: string;
  readonly name: string;
  readonly kind: string;
  /** Markdown. */
  readonly comment: string;
  /** TypeScript, as in the shipped declarations; one for each declaration of the name. */
  readonly declarations: readonly string[];
}

/** The exports of the packages' main entries, from the declarations that were built. */
export function readApi(names: readonly string[] = PACKAGES): ApiEntry[] {
  const entries = names.map((name) => ({ name, file: join(packageFolder(name), "dist/index.d.ts") }));
  const missing = entries.filter(({ file }) => !existsSync(file)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`not built: ${missing.join(", ")}; run \`npm test -- build\` first`);
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { ...readCompilerOptions(), customConditions: [], skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  return entries.flatMap(({ name, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!);
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    return symbols
      .map((symbol) => describeSymbol(name, symbol, checker))
      .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  });
}

function describeSymbol(owner: string, symbol: ts.Symbol, checker: ts.TypeChecker): ApiEntry {
  const target = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const declarations = target.declarations ?? [];
  return {
    package: owner,
    name: symbol.name,
    kind: kindOf(target.flags),
    comment: ts.displayPartsToString(target.getDocumentationComment(checker)),
    declarations: declarations.map((declaration) => declarationText(declaration)),
  };
}

function kindOf(flags: ts.SymbolFlags): string {
  if ((flags & ts.SymbolFlags.Class) !== 0) return "class";
  if ((flags & ts.SymbolFlags.Function) !== 0) return "function";
  if ((flags & ts.SymbolFlags.Interface) !== 0) return "interface";
  if ((flags & ts.SymbolFlags.TypeAlias) !== 0)
    return (flags & ts.SymbolFlags.Variable) === 0 ? "type" : "type and value";
  return "value";
}

/** The text of a declaration without its own comment. Comments of members stay. */
function declarationText(declaration: ts.Declaration): string {
  // A variable's declaration is two levels below its statement.
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return statement
    .getText()
    .replace(/^export declare |^export |^declare /, "")
    .replace(/^\s*#private;\n/m, "");
}

/** A page for each package, with a link at every name that another page, or this one, explains. */
export function apiPages(entries: readonly ApiEntry[]): SitePage[] {
  const home = new Map<string, ApiEntry>();
  // A name means one thing in every package; the lowest layer that exports it explains it.
  for (const entry of entries) if (!home.has(entry.name)) home.set(entry.name, entry);
  const packages = [...new Set(entries.map((entry) => entry.package))];
  return packages.map((name) => {
    const own = entries.filter((entry) => entry.package === name);
    return {
      source: `api:${name}`,
      path: apiPath(name),
      title: `@gossip/${name}: API`,
      markdown: apiMarkdown(name, own, home),
    };
  });
}

export function apiPath(name: string): string {
  return `packages/${name}/api.html`;
}

function apiMarkdown(name: string, entries: readonly ApiEntry[], home: ReadonlyMap<string, ApiEntry>): string {
  const { version, description = "" } = readManifest(name) as { version: string; description?: string };
  const sections = entries.map((entry) => {
    const code = entry.declarations.map((text) => linkedCode(text, entry, home)).join("\n");
    return `## ${entry.name}\n\n_${entry.kind}_\n\n${entry.comment}\n\n<figure class="code"><pre tabindex="0"><code>${code}\n</code></pre></figure>\n`;
  });
  const intro = `What \`@gossip/${name}\` ${version} exports. [Its page](README.md) shows how to use it.`;
  return [`# @gossip/${name}: API`, description, intro, ...sections].join("\n\n");
}

/** Code in which the names of exports are links. */
function linkedCode(code: string, own: ApiEntry, home: ReadonlyMap<string, ApiEntry>): string {
  const link = (name: string): string | undefined => {
    const entry = home.get(name);
    if (entry === undefined || name === own.name) return undefined;
    const page = entry.package === own.package ? "" : `../${entry.package}/api.html`;
    return `${page}#${anchorOf(name)}`;
  };
  // A blank line would end the HTML block in Markdown.
  return highlight(code, "ts", link).replaceAll(/\n\n+/g, "\n");
}
