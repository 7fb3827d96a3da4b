// What a core package may not touch: clocks, randomness, timers, the console, the process, the network, the disk.
// All of it comes in from outside, or a test cannot try a million runs and a simulator cannot replay one.
import { isBuiltin } from "node:module";
import ts from "typescript";
import type { Finding } from "./finding.ts";
import { lineOf, parse, type SourceText } from "./tree.ts";

const BANNED_GLOBALS = new Set([
  "console",
  "performance",
  "process",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "fetch",
  "WebSocket",
  "EventSource",
  "XMLHttpRequest",
]);

// A map, not an object: a variable may be called `toString`.
const BANNED_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Date", new Set(["now"])],
  ["Math", new Set(["random"])],
  ["Temporal", new Set(["Now"])],
  ["AbortSignal", new Set(["timeout"])],
  ["Atomics", new Set(["wait", "waitAsync"])],
]);

const GLOBAL_OBJECTS = new Set(["globalThis", "global", "window", "self"]);

/** `crypto` is allowed: an id that must be unguessable has to come from somewhere. */
const ALLOWED_BUILTINS = new Set(["buffer", "crypto", "events", "util"]);

/** Files that exist to hold a default that the caller may replace, and what each may use. */
const EDGES: ReadonlyMap<string, readonly string[]> = new Map([
  ["packages/coordination/src/coordinator/backoff-timer.ts", ["setTimeout", "Math.random"]],
]);

export function impureUses(source: SourceText): Finding[] {
  const found: Finding[] = [];
  const allowed = EDGES.get(source.file) ?? [];
  const report = (node: ts.Node, what: string): void => {
    if (!allowed.includes(what))
      found.push({ file: source.file, line: lineOf(node), what: `${what} in a core package` });
  };
  visit(parse(source));
  return found;

  function visit(node: ts.Node): void {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    if (ts.isIdentifier(node) && isReference(node)) {
      const what = impureUse(node);
      if (what !== undefined) report(node, what);
    }
    const builtin = importedBuiltin(node);
    if (builtin !== undefined && !ALLOWED_BUILTINS.has(builtin)) report(node, `import of node:${builtin}`);
    ts.forEachChild(node, visit);
  }
}

function impureUse(identifier: ts.Identifier): string | undefined {
  const { name, use } = throughGlobalObject(identifier);
  if (BANNED_GLOBALS.has(name)) return name;
  const banned = BANNED_MEMBERS.get(name);
  if (banned === undefined) return undefined;
  const member = memberOf(use);
  if (member !== undefined) return banned.has(member) ? `${name}.${member}` : undefined;
  return isHarmlessAlone(name, use) ? undefined : `${name} by itself`;
}

/** `globalThis.Date` is `Date`. */
function throughGlobalObject(identifier: ts.Identifier): { name: string; use: ts.Expression } {
  const member = GLOBAL_OBJECTS.has(identifier.text) ? memberOf(identifier) : undefined;
  if (member === undefined) return { name: identifier.text, use: identifier };
  return { name: member, use: identifier.parent as ts.Expression };
}

/** The `now` of `Date.now` and of `Date["now"]`. */
function memberOf(expression: ts.Expression): string | undefined {
  const { parent } = expression;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === expression) return parent.name.text;
  if (!ts.isElementAccessExpression(parent) || parent.expression !== expression) return undefined;
  return ts.isStringLiteralLike(parent.argumentExpression) ? parent.argumentExpression.text : undefined;
}

/** `new Date(ms)` and `x instanceof Date` read no clock; `const clock = Date` might. */
function isHarmlessAlone(name: string, use: ts.Expression): boolean {
  const { parent } = use;
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword) return true;
  if (name === "Date")
    return ts.isNewExpression(parent) && parent.expression === use && (parent.arguments ?? []).length > 0;
  return false;
}

/** Whether the identifier stands for a value here, and is not a name that is being given or a property's. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent) ||
    ts.isExportSpecifier(parent)
  )
    return false;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  return (parent as { name?: ts.Node }).name !== node;
}

function importedBuiltin(node: ts.Node): string | undefined {
  const specifier = loadedSpecifier(node);
  if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !isBuiltin(specifier.text)) return undefined;
  return specifier.text.replace(/^node:/, "");
}

/** The specifier of an import, a re-export or an `import()` that loads something: types load nothing. */
function loadedSpecifier(node: ts.Node): ts.Expression | undefined {
  if (ts.isImportDeclaration(node))
    return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? undefined : node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? undefined : node.moduleSpecifier;
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    ? node.arguments[0]
    : undefined;
}
