import ts from "typescript";
import type { Finding } from "./finding.ts";
import { lineOf, parse, type SourceText } from "./tree.ts";

/** `export *` hides from the reader, and from a review, what a module offers. */
export function starExports(source: SourceText): Finding[] {
  return parse(source)
    .statements.filter((statement) => ts.isExportDeclaration(statement))
    .filter(({ exportClause }) => exportClause === undefined || ts.isNamespaceExport(exportClause))
    .map((statement) => ({ file: source.file, line: lineOf(statement), what: "export *: name what is exported" }));
}
