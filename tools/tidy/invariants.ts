// docs/invariants.md names the tests that hold each rule. A name that is no test is a rule that nothing holds.
import type { Finding } from "./finding.ts";
import type { TestCall } from "./test-calls.ts";
import type { SourceText } from "./tree.ts";

const NONE_YET = /^(-|–|—)?$/;

/** The last column of every table row lists tests in backticks, by title or by `group > title`; a dash means none yet. */
export function unknownTests({ file, text }: SourceText, tests: readonly TestCall[]): Finding[] {
  const known = new Set(tests.filter((test) => !test.isSkipped).flatMap(namesOf));
  const rows = tableRows(text);
  if (rows.length === 0) return [{ file, line: 0, what: "holds no table row, so nothing could be checked" }];
  return rows.flatMap(({ line, cell }) => {
    const names = quotedNames(cell);
    if (names.length === 0 && !NONE_YET.test(cell))
      return [{ file, line, what: `names no test in backticks and has no dash: ${cell}` }];
    return names
      .filter((name) => !known.has(name))
      .map((name) => ({ file, line, what: `names a test that does not exist, or is skipped: ${name}` }));
  });
}

function namesOf({ path }: TestCall): string[] {
  const whole = path.includes(undefined) ? [] : [path.join(" > ")];
  const title = path.at(-1);
  return title === undefined ? whole : [title, ...whole];
}

/** The rows of every table, without its head and the line below that. */
function tableRows(text: string): { line: number; cell: string }[] {
  const lines = text.split("\n");
  const isRule = (line: string | undefined): boolean => line !== undefined && /^\|[\s:|-]*-[\s:|-]*$/.test(line);
  return lines.flatMap((line, index) => {
    const isHead = isRule(lines[index + 1]);
    return line.startsWith("|") && !isRule(line) && !isHead ? [{ line: index + 1, cell: lastCell(line) }] : [];
  });
}

function lastCell(line: string): string {
  const cells = line
    .trim()
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/);
  return cells.at(-1)!.replaceAll("\\|", "|").trim();
}

function quotedNames(cell: string): string[] {
  return [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map((match) => match[2]!.trim());
}
