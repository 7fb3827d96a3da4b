// A test whose cases cannot be drawn again fails once and cannot be understood. `seededRandom` of `@gossip/tools/effort` can.
import ts from "typescript";
import type { Finding } from "./finding.ts";
import { lineOf, parse, type SourceText } from "./tree.ts";

const WHAT = "Math.random in a test: use seededRandom";

export function unseededDraws(source: SourceText): Finding[] {
  const found: Finding[] = [];
  if (!source.text.includes("Math.random")) return found;
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.getText() === "Math.random")
      found.push({ file: source.file, line: lineOf(node), what: WHAT });
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return found;
}
