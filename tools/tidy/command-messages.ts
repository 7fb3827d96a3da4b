// The error messages of the `gossip` command, read from its sources.
import ts from "typescript";
import type { Finding } from "./finding.ts";
import type { SourceText } from "./tree.ts";

export interface CommandMessage {
  readonly file: string;
  readonly line: number;
  /** As it is printed, with `…` for what is filled in. */
  readonly text: string;
}

const SHIPPED = /^(?!.*\.(?:test|test-d|bench|fixture)\.ts$)/;
const MIN_WORDS = 4;

/** Sources whose errors the command prints, and how a message is recognized in them. */
const PLACES: readonly (readonly [files: RegExp, isMessage: (node: Literal) => boolean])[] = [
  [/^packages\/cli\/src\//, isErrorOfCommand],
  [/^packages\/tso-server\/src\/flags\//, (node) => isArgument(node, "usage", 0)],
  [/^packages\/insight\/src\/keys\/key-text\.ts$/, (node) => isArgument(node, "err", 0)],
  // Why a store cannot be opened.
  [/^packages\/coordination-\w+\/src\/open\/\w+-open-error\.ts$/, isSentence],
];

export function commandMessages(sources: readonly SourceText[]): CommandMessage[] {
  const found = sources.flatMap((source) => {
    const [, isMessage] = PLACES.find(([files]) => SHIPPED.test(source.file) && files.test(source.file)) ?? [];
    return isMessage === undefined ? [] : messagesIn(source, isMessage);
  });
  return [...new Map(found.map((message) => [message.text, message])).values()];
}

/** Messages that the page does not list, and lines of the page that no message has. */
export function unlistedMessages(messages: readonly CommandMessage[], page: SourceText): Finding[] {
  const listed = new Set(listedMessages(page.text));
  const known = new Set(messages.map(({ text }) => text));
  return [
    ...messages
      .filter(({ text }) => !listed.has(text))
      .map(({ file, line, text }) => ({ file, line, what: `${page.file} does not list this message: ${text}` })),
    ...[...listed]
      .filter((text) => !known.has(text))
      .map((text) => ({ file: page.file, line: 0, what: `lists a message that the command does not have: ${text}` })),
  ];
}

/** The messages that a page lists: each is a list item that starts with a code span. */
export function listedMessages(page: string): string[] {
  return [...page.matchAll(/^- (`+)([^]*?[^`])\1(?!`)/gm)].map((match) => match[2]!.replaceAll(/\s+/g, " ").trim());
}

type Literal = ts.StringLiteralLike | ts.TemplateExpression;

function messagesIn({ file, text }: SourceText, isMessage: (node: Literal) => boolean): CommandMessage[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const messages: CommandMessage[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && isMessage(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      messages.push({ file, line: line + 1, text: textOf(node) });
    } else ts.forEachChild(node, visit);
  };
  visit(source);
  return messages;
}

/**
 * The second argument of `fail`, or what a function returns whose result is that argument; the `message` of an object
 * that has a `kind`; what is assigned to `problem`.
 */
function isErrorOfCommand(node: Literal): boolean {
  if (isArgument(node, "fail", 1)) return true;
  const { parent } = withoutConditions(node);
  if (ts.isReturnStatement(parent)) return isPassedToFail(parent);
  if (ts.isBinaryExpression(parent)) return parent.left.getText().endsWith(".problem");
  if (!ts.isPropertyAssignment(parent) || parent.name.getText() !== "message") return false;
  return parent.parent.properties.some((property) => property.name?.getText() === "kind");
}

/** Whether the node, perhaps as one branch of a condition, is that argument of a call of the function. */
function isArgument(node: ts.Expression, name: string, index: number): boolean {
  const { whole, parent } = withoutConditions(node);
  if (!ts.isCallExpression(parent) || !ts.isIdentifier(parent.expression)) return false;
  return parent.expression.text === name && parent.arguments[index] === whole;
}

function isPassedToFail(statement: ts.ReturnStatement): boolean {
  const owner = ts.findAncestor(statement, ts.isFunctionDeclaration);
  const name = owner?.name?.text;
  return name !== undefined && new RegExp(`\\bfail\\("\\w+", ${name}\\(`).test(statement.getSourceFile().text);
}

/** Text of several words that a function returns or a table holds. An assertion's message is not for users. */
function isSentence(node: Literal): boolean {
  const { parent } = withoutConditions(node);
  const isAnswer = ts.isArrowFunction(parent) || ts.isReturnStatement(parent) || ts.isPropertyAssignment(parent);
  return isAnswer && textOf(node).split(" ").length >= MIN_WORDS;
}

function withoutConditions(node: ts.Expression): { readonly whole: ts.Node; readonly parent: ts.Node } {
  let whole: ts.Node = node;
  while (ts.isConditionalExpression(whole.parent) && whole.parent.condition !== whole) whole = whole.parent;
  return { whole, parent: whole.parent };
}

function textOf(node: Literal): string {
  const text = ts.isTemplateExpression(node)
    ? node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("")
    : node.text;
  return text.replaceAll(/\s+/g, " ").trim();
}
