// The tests of a file, as its syntax shows them.
import ts from "typescript";
import { lineOf, parse, type SourceText } from "./tree.ts";

export interface TestCall {
  readonly file: string;
  readonly line: number;
  /** Its titles from the outside in; a title that is computed is `undefined`. */
  readonly path: readonly (string | undefined)[];
  /** It, or a group around it, is `.skip` or `.todo`. */
  readonly isSkipped: boolean;
  readonly isOnly: boolean;
}

const TEST_FUNCTIONS = new Set(["test", "it", "describe", "suite"]);

/** Every `test`, `it`, `describe` and `suite` with a title, in all their forms: `.each(…)`, `.prop(…)`, `.skipIf(…)`. */
export function testCalls(source: SourceText): TestCall[] {
  const found: TestCall[] = [];
  visit(parse(source), [], false);
  return found;

  function visit(node: ts.Node, around: readonly (string | undefined)[], isInSkipped: boolean): void {
    const call = ts.isCallExpression(node) ? readTestCall(node) : undefined;
    const path = call === undefined ? around : [...around, call.title];
    const words = call?.words ?? [];
    const isSkipped = isInSkipped || words.includes("skip") || words.includes("todo");
    if (call !== undefined)
      found.push({ file: source.file, line: lineOf(node), path, isSkipped, isOnly: words.includes("only") });
    ts.forEachChild(node, (child) => visit(child, path, isSkipped));
  }
}

function readTestCall(node: ts.CallExpression): { title: string | undefined; words: readonly string[] } | undefined {
  const words = chainOf(node.expression);
  const [title, ...rest] = node.arguments;
  if (words === undefined || title === undefined || !isTitle(title)) return undefined;
  return {
    title: ts.isStringLiteralLike(title) ? title.text : undefined,
    words: [...words, ...rest.flatMap(optionsOf)],
  };
}

/** `test.each(…)` alone has no title yet, and neither has `describe.skipIf(…)`. */
function isTitle(node: ts.Expression): boolean {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateExpression(node) ||
    (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
  );
}

/** The words after `test` in `test.skip.each([…])`; `undefined` if it is not a test. */
function chainOf(callee: ts.Expression): string[] | undefined {
  if (ts.isIdentifier(callee)) return TEST_FUNCTIONS.has(callee.text) ? [] : undefined;
  if (ts.isCallExpression(callee)) return chainOf(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return chainOf(callee.tag);
  if (!ts.isPropertyAccessExpression(callee)) return undefined;
  const before = chainOf(callee.expression);
  return before === undefined ? undefined : [...before, callee.name.text];
}

/** The `only` of `test("…", { only: true }, …)`. */
function optionsOf(argument: ts.Expression): string[] {
  if (!ts.isObjectLiteralExpression(argument)) return [];
  return argument.properties
    .filter((property) => ts.isPropertyAssignment(property) && property.initializer.kind !== ts.SyntaxKind.FalseKeyword)
    .map((property) => property.name?.getText() ?? "");
}
