// A dropped `Result` is a failure that goes unnoticed. This finds them, by type.
import ts from "typescript";

export interface DroppedResult {
  /** As the program names it. */
  readonly file: string;
  readonly line: number;
  /** The expression, shortened. */
  readonly text: string;
}

/**
 * Every expression in `files` whose `Result`, or promise of one, goes nowhere: it stands as a statement, on the left of a
 * comma, or as the whole body of a callback that is called for nothing (`forEach(() => f())`).
 *
 * `void f()` says that the drop is meant, and is not reported.
 */
export function droppedResults(program: ts.Program, files: readonly string[]): DroppedResult[] {
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} is not part of the program`);
    return droppedExpressions(source, checker)
      .flatMap(outcomesOf)
      .filter((expression) => isResult(expression, checker))
      .map((expression) => ({
        file,
        line: source.getLineAndCharacterOfPosition(expression.getStart(source)).line + 1,
        text: expression.getText(source).replaceAll(/\s+/g, " ").slice(0, 80),
      }));
  });
}

function droppedExpressions(source: ts.SourceFile, checker: ts.TypeChecker): ts.Expression[] {
  const found: ts.Expression[] = [];
  visit(source);
  return found;

  function visit(node: ts.Node): void {
    if (ts.isExpressionStatement(node)) found.push(node.expression);
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.CommaToken) found.push(node.left);
    else if (ts.isForStatement(node))
      for (const part of [node.initializer, node.incrementor])
        if (part !== undefined && ts.isExpression(part)) found.push(part);
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && isCalledForNothing(node, checker)) found.push(node.body);
    ts.forEachChild(node, visit);
  }
}

/** The expressions whose value `dropped` would have: what is assigned is kept, and a condition is used. */
function outcomesOf(dropped: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(dropped)) return outcomesOf(dropped.expression);
  if (ts.isConditionalExpression(dropped)) return [...outcomesOf(dropped.whenTrue), ...outcomesOf(dropped.whenFalse)];
  if (!ts.isBinaryExpression(dropped)) return [dropped];
  const operator = dropped.operatorToken.kind;
  if (operator >= ts.SyntaxKind.FirstAssignment && operator <= ts.SyntaxKind.LastAssignment) return [];
  return outcomesOf(dropped.right);
}

/** Whether the type of this callback's parameter states that its result is ignored. */
function isCalledForNothing(callback: ts.ArrowFunction, checker: ts.TypeChecker): boolean {
  const wanted = checker.getContextualType(callback);
  const signatures =
    wanted === undefined ? [] : checker.getSignaturesOfType(checker.getNonNullableType(wanted), ts.SignatureKind.Call);
  return (
    signatures.length > 0 &&
    signatures.every((signature) => (checker.getReturnTypeOfSignature(signature).flags & ts.TypeFlags.Void) !== 0)
  );
}

function isResult(expression: ts.Expression, checker: ts.TypeChecker): boolean {
  const type = checker.getTypeAtLocation(expression);
  return membersOf(checker.getAwaitedType(type) ?? type).some((member) => isFailure(member, checker));
}

function membersOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

/** A type that can fail has a member with `ok: false` and an `error`: what `Err` looks like, in any copy of the package. */
function isFailure(type: ts.Type, checker: ts.TypeChecker): boolean {
  const okay = type.getProperty("ok");
  if (okay === undefined || type.getProperty("error") === undefined) return false;
  return checker.typeToString(checker.getTypeOfSymbol(okay)) === "false";
}

/** What did not resolve has the type `any`, and a drop of that cannot be seen. So it is an error here too. */
export function unresolvedImports(program: ts.Program, files: readonly string[]): string[] {
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const statements = program.getSourceFile(file)?.statements ?? [];
    return statements
      .map((statement) =>
        ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier : undefined,
      )
      .filter((specifier) => specifier !== undefined && checker.getSymbolAtLocation(specifier) === undefined)
      .map((specifier) => `${file}: ${specifier!.getText()} does not resolve`);
  });
}
