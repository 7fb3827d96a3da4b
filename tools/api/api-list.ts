// The public surface of a package as text: one line an export.
import ts from "typescript";
import { readCompilerOptions } from "./program.ts";
import { signatureOf } from "./signature.ts";

export type ExportKind = "value" | "type" | "both";

export interface ApiExport {
  readonly package: string;
  /** The entry as the manifest spells it: `.` or `./testing`. */
  readonly entry: string;
  readonly kind: ExportKind;
  readonly name: string;
  readonly signature: string;
}

/** An entry of a package, and the absolute path of the source file behind it. */
export interface EntryFile {
  readonly package: string;
  readonly entry: string;
  readonly file: string;
}

/** What the entries export, in the order of the entries and then by name. */
export function listExports(entries: readonly EntryFile[]): ApiExport[] {
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    readCompilerOptions(),
  );
  const checker = program.getTypeChecker();
  return entries.flatMap((entry) => {
    const source = program.getSourceFile(entry.file);
    if (source === undefined)
      throw new Error(`${entry.package} names ${entry.file} as its entry ${entry.entry}, and it does not exist`);
    const module = checker.getSymbolAtLocation(source);
    // A file that neither imports nor exports is no module, and offers nothing.
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    return symbols.map((symbol) => describeExport(entry, symbol, checker)).sort(byName);
  });
}

/** The text of one package's list. */
export function formatExports(exports: readonly ApiExport[]): string {
  return exports
    .map(({ entry, kind, name, signature }) => `${entry} ${kind.padEnd(5)} ${name} ${signature}\n`)
    .join("");
}

/** Reads a list that `formatExports` wrote. */
export function parseExports(owner: string, list: string): ApiExport[] {
  return [...list.matchAll(/^(\S+) (\w+) +(\S+) (.*)$/gm)].map(([, entry, kind, name, signature]) => ({
    package: owner,
    entry: entry!,
    kind: kind as ExportKind,
    name: name!,
    signature: signature!,
  }));
}

function describeExport({ package: owner, entry }: EntryFile, symbol: ts.Symbol, checker: ts.TypeChecker): ApiExport {
  const name = symbol.name;
  const target = isAlias(symbol) ? checker.getAliasedSymbol(symbol) : symbol;
  const { flags, declarations = [] } = target;
  if (declarations.length === 0) throw new Error(`${owner} (${entry}) exports ${name}, which leads nowhere`);
  const isType = (flags & ts.SymbolFlags.Type) !== 0;
  const isValue = (flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol, checker);
  if (!isType && !isValue) throw new Error(`${owner} (${entry}) exports ${name}, which is neither a value nor a type`);
  const kind = isType && isValue ? "both" : isType ? "type" : "value";
  return { package: owner, entry, kind, name, signature: signatureOf(declarations) };
}

/** Whether a `type` stands anywhere between the entry and the declaration. */
function isTypeOnly(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  for (
    let link: ts.Symbol | undefined = symbol;
    link !== undefined && isAlias(link);
    link = checker.getImmediateAliasedSymbol(link)
  ) {
    if ((link.declarations ?? []).some((declaration) => ts.isTypeOnlyImportOrExportDeclaration(declaration)))
      return true;
  }
  return false;
}

function isAlias(symbol: ts.Symbol): boolean {
  return (symbol.flags & ts.SymbolFlags.Alias) !== 0;
}

function byName(a: ApiExport, b: ApiExport): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
