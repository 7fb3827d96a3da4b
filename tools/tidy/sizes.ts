// Sizes that are worth a look. A long file or function may be right; these are never failures.
import ts from "typescript";
import type { Finding } from "./finding.ts";
import { lineOf, parse, type SourceText } from "./tree.ts";

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;

export function longFiles({ file, text }: SourceText): Finding[] {
  const lineCount = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return lineCount > MAX_FILE_LINES
    ? [{ file, line: 0, what: `${lineCount} lines (more than ${MAX_FILE_LINES})` }]
    : [];
}

export function longFunctions(source: SourceText): Finding[] {
  const tree = parse(source);
  const found: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !ts.isTypeNode(node)) {
      const lineCount = tree.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(node);
      if (lineCount > MAX_FUNCTION_LINES)
        found.push({
          file: source.file,
          line: lineOf(node),
          what: `${nameOf(node)} has ${lineCount} lines (more than ${MAX_FUNCTION_LINES})`,
        });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function nameOf(node: ts.SignatureDeclaration): string {
  return ts.isConstructorDeclaration(node) ? "the constructor" : (node.name?.getText() ?? "a function");
}
