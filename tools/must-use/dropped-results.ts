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
  const testNames = importedTestNames(source);
  visit(source);
  return found;

  /** None of the test functions takes a callback whose result is ignored: a test may return anything. */
  function isOfTest({ parent }: ts.ArrowFunction): boolean {
    return ts.isCallExpression(parent) && testNames.has(rootName(parent.expression));
  }

  function visit(node: ts.Node): void {
    if (ts.isExpressionStatement(node) && testNames.has(rootName(node.expression))) {
      // An assertion, a test or a hook. What is inside is still looked at.
    } else if (ts.isExpressionStatement(node)) found.push(node.expression);
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.CommaToken) found.push(node.left);
    else if (ts.isForStatement(node))
      for (const part of [node.initializer, node.incrementor])
        if (part !== undefined && ts.isExpression(part)) found.push(part);
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && mayBeResult(node.body) && !isOfTest(node))
      if (isCalledForNothing(node, checker)) found.push(node.body);
    ts.forEachChild(node, visit);
  }
}

/** What vitest exports that never returns a `Result`. Most statements of tests are calls of these, and the slowest to infer. */
const TEST_FUNCTIONS: ReadonlySet<string> = new Set([
  "afterAll",
  "afterEach",
  "beforeAll",
  "beforeEach",
  "describe",
  "expect",
  "test",
]);

/** The test functions that a file imports, by the names that it gives them. */
function importedTestNames(source: ts.SourceFile): ReadonlySet<string | undefined> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (statement.moduleSpecifier.text !== "vitest" || bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements)
      if (TEST_FUNCTIONS.has((propertyName ?? name).text)) names.add(name.text);
  }
  return names;
}

/** `expect` of `await expect(a).resolves.toBe(b)`; `undefined` if the expression is no chain of calls and properties. */
function rootName(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isCallExpression(expression) ||
    ts.isPropertyAccessExpression(expression) ||
    ts.isAwaitExpression(expression)
    ? rootName(expression.expression)
    : undefined;
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

/** Whether the form of an expression leaves open that it is a `Result`. Asking for the type of a callback takes longest. */
function mayBeResult(body: ts.Expression): boolean {
  return outcomesOf(body).some(
    (outcome) =>
      !ts.isLiteralExpression(outcome) &&
      !ts.isTemplateExpression(outcome) &&
      !ts.isPrefixUnaryExpression(outcome) &&
      !ts.isVoidExpression(outcome) &&
      !ts.isArrayLiteralExpression(outcome) &&
      !ts.isFunctionLike(outcome),
  );
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
