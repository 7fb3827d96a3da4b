import { readFileSync } from "node:fs";

/** Where the vectors stand that people read: docs/reference/wire-format.md. */
const PAGE = new URL("../../../docs/reference/wire-format.md", import.meta.url);

/** The rows of the table that follows a heading, cells without their backticks. */
export function readVectors(heading: string): string[][] {
  const page = readFileSync(PAGE, "utf8");
  const start = page.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`${PAGE.pathname} has no heading "${heading}"`);
  const lines = page.slice(start + heading.length + 2).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const rows: string[][] = [];
  for (let index = first; index >= 0 && lines[index]?.startsWith("|"); index++) rows.push(readCells(lines[index]!));
  // Head and rule.
  if (rows.length < 3) throw new Error(`no table follows "${heading}"`);
  return rows.slice(2);
}

function readCells(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|").replaceAll("`", ""));
}
