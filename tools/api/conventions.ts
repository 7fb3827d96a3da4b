// Two rules of STYLE.md that a list of exports can show: a public name means one thing in every package, and a caller
// cannot swap two arguments without a type error.
import type { ApiExport } from "./api-list.ts";

/** The arguments that a public function may take one after the other. More of them belong in one object. */
const MAX_POSITIONAL = 3;

/** Names that two packages export with different meanings. */
export function sharedNames(exports: readonly ApiExport[]): string[] {
  const owners = new Map<string, ApiExport[]>();
  for (const entry of exports) owners.set(entry.name, [...(owners.get(entry.name) ?? []), entry]);
  return [...owners]
    .filter(([, entries]) => new Set(entries.map(({ signature }) => signature)).size > 1)
    .map(([name, entries]) => `${name}: ${[...new Set(entries.map((entry) => entry.package))].join(", ")}`);
}

/** Public functions and constructors with too many positional arguments, or with two of one type. */
export function swappableArguments(exports: readonly ApiExport[]): string[] {
  return exports
    .filter(({ kind, signature }) => kind !== "type" && parameterLists(signature).some(isSwappable))
    .map((entry) => `${entry.package}: ${entry.name}`);
}

/** The parameter lists of a signature: one for each overload of a function, or that of a public constructor. */
function parameterLists(signature: string): string[] {
  if (signature.startsWith("function ")) return signature.slice("function ".length).split("; ").map(firstParentheses);
  const constructor = /^class[^{]*\{ new (?=\()/.exec(signature);
  return constructor === null ? [] : [firstParentheses(signature.slice(constructor[0].length))];
}

function isSwappable(list: string): boolean {
  const types = splitAt(list, ",").map((parameter) => splitAt(parameter, ":").slice(1).join(":"));
  return types.length > MAX_POSITIONAL || new Set(types).size < types.length;
}

/** What the first pair of parentheses holds. */
function firstParentheses(text: string): string {
  const start = text.indexOf("(") + 1;
  let depth = 1;
  let end = start;
  while (end < text.length && depth > 0) depth += nesting(text, end++);
  return text.slice(start, end - 1);
}

/** The parts between the separators that stand outside of every bracket. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    depth += nesting(text, at);
    if (text[at] !== separator || depth > 0) continue;
    parts.push(text.slice(start, at).trim());
    start = at + 1;
  }
  return text.trim() === "" ? [] : [...parts, text.slice(start).trim()];
}

/** How the letter at `at` changes the nesting. The `>` of an arrow closes nothing. */
function nesting(text: string, at: number): number {
  if ("([{<".includes(text[at]!)) return 1;
  return ")]}".includes(text[at]!) || (text[at] === ">" && text[at - 1] !== "=") ? -1 : 0;
}
