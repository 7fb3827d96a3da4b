// Turns a block into a program that checks its own `// =>` marks.
import ts from "typescript";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";

export interface Program {
  readonly javascript: string;
  /** The lines of the page whose marks the program must reach. */
  readonly markLines: readonly number[];
  /** What is wrong before anything runs. */
  readonly failures: readonly Failure[];
}

const INTERNAL_ENTRY = /@gossip\/[\w-]+\/internal\b/g;

interface Mark {
  readonly pos: number;
  readonly line: number;
  readonly expected: string;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * `expr; // => value` and `const x = expr; // => value` become a check; the value is an expression in the block's scope.
 * The mark may also stand alone on the line below. `resolve` may give an import another specifier.
 */
export function instrument(
  { file, line: firstLine, code }: Block,
  resolve: (specifier: string) => string = (specifier) => specifier,
): Program {
  const source = ts.createSourceFile("block.ts", code, ts.ScriptTarget.Latest, true);
  const lineAt = (pos: number): number => firstLine + source.getLineAndCharacterOfPosition(pos).line;
  const marks = findMarks(source, lineAt);
  const noExpressions = marks
    .filter(({ expected }) => !isExpression(expected))
    .map(({ line, expected }) => ({ file, line, what: `what stands after => is no expression: ${expected}` }));
  const internal = [...code.matchAll(INTERNAL_ENTRY)].map(({ index }) => ({
    file,
    line: lineAt(index),
    what: "imports an ./internal entry, which users cannot",
  }));
  const failures: Failure[] = [...syntaxFailures(code, file, lineAt), ...noExpressions, ...internal];
  if (failures.length > 0) return { javascript: "", markLines: [], failures };

  const unclaimed = new Map(marks.map((mark) => [mark.pos, mark]));
  const edits: Edit[] = [];
  visit(source);
  const orphans = [...unclaimed.values()].map(({ line }) => ({
    file,
    line,
    what: "this // => belongs to no expression and no `const name = …`",
  }));
  if (orphans.length > 0) return { javascript: "", markLines: [], failures: orphans };
  return { javascript: stripTypes(applyEdits(code, edits)), markLines: marks.map((mark) => mark.line), failures: [] };

  function visit(node: ts.Node): void {
    // The innermost statement first: in `if (a) f(); // => 1` the mark is that of `f()`.
    ts.forEachChild(node, visit);
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined)
      renameImport(node.moduleSpecifier as ts.StringLiteral);
    if (ts.isExpressionStatement(node)) checkExpression(node);
    if (ts.isVariableStatement(node)) checkVariable(node);
    if (node.parent === source && runs(node))
      edits.push({
        start: node.getStart(source),
        end: node.getStart(source),
        text: `__example.at(${lineAt(node.getStart(source))}); `,
      });
  }

  function renameImport(specifier: ts.StringLiteral): void {
    edits.push({
      start: specifier.getStart(source),
      end: specifier.end,
      text: JSON.stringify(resolve(specifier.text)),
    });
  }

  function checkExpression(node: ts.ExpressionStatement): void {
    const mark = claim(node);
    if (mark === undefined) return;
    const { expression } = node;
    // Two insertions, and not one replacement: what stands between them may hold marks of its own.
    edits.push({
      start: expression.getStart(source),
      end: expression.getStart(source),
      text: `__example.check(${mark.line}, (`,
    });
    edits.push({ start: expression.end, end: expression.end, text: `), (${mark.expected}))` });
  }

  function checkVariable(node: ts.VariableStatement): void {
    const name = node.declarationList.declarations.at(-1)!.name;
    const mark = ts.isIdentifier(name) ? claim(node) : undefined;
    if (mark !== undefined)
      edits.push({
        start: node.end,
        end: node.end,
        text: `; __example.check(${mark.line}, ${name.getText(source)}, (${mark.expected}));`,
      });
  }

  /** The mark that follows a statement, with nothing but space and other comments between. */
  function claim(statement: ts.Statement): Mark | undefined {
    const comments = [
      ...(ts.getTrailingCommentRanges(code, statement.end) ?? []),
      ...(ts.getLeadingCommentRanges(code, statement.end) ?? []),
    ];
    const mark = comments.map(({ pos }) => unclaimed.get(pos)).find((found) => found !== undefined);
    if (mark !== undefined) unclaimed.delete(mark.pos);
    return mark;
  }
}

function findMarks(source: ts.SourceFile, lineAt: (pos: number) => number): Mark[] {
  const literals: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isRegularExpressionLiteral(node))
      literals.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...source.text.matchAll(/\/\/ *=>(.*)$/gm)]
    .filter(({ index }) => !literals.some((literal) => literal.getStart(source) < index && index < literal.end))
    .map((match) => ({ pos: match.index, line: lineAt(match.index), expected: match[1]!.trim() }));
}

/** Statements that do something when control passes them. */
function runs(node: ts.Node): node is ts.Statement {
  return (
    ts.isStatement(node) &&
    !ts.isImportDeclaration(node) &&
    !ts.isExportDeclaration(node) &&
    !ts.isTypeAliasDeclaration(node) &&
    !ts.isInterfaceDeclaration(node)
  );
}

function applyEdits(code: string, edits: readonly Edit[]): string {
  // From the back. At one place the later edit ends up first: `at` comes before the check of the statement it announces.
  const ordered = edits
    .map((edit, order) => ({ ...edit, order }))
    .sort((a, b) => b.start - a.start || a.order - b.order);
  return ordered.reduce(
    (text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end),
    code,
  );
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
};

function stripTypes(code: string): string {
  return ts.transpileModule(code, { fileName: "block.ts", compilerOptions: OPTIONS }).outputText;
}

function syntaxFailures(code: string, file: string, lineAt: (pos: number) => number): Failure[] {
  const { diagnostics = [] } = ts.transpileModule(code, {
    fileName: "block.ts",
    compilerOptions: OPTIONS,
    reportDiagnostics: true,
  });
  return diagnostics.map((diagnostic) => ({
    file,
    line: lineAt(diagnostic.start ?? 0),
    what: ts.flattenDiagnosticMessageText(diagnostic.messageText, " "),
  }));
}

function isExpression(text: string): boolean {
  const { diagnostics = [] } = ts.transpileModule(`(${text}\n);`, {
    fileName: "expected.ts",
    compilerOptions: OPTIONS,
    reportDiagnostics: true,
  });
  return text !== "" && diagnostics.length === 0;
}
