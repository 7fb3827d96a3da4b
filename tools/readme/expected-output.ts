// Compares what a command printed with what a page shows.

/** What differs from run to run: where the page shows one, any other may be printed. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // A time, in a log or in a table.
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\\\.\d+)?Z/g, "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z"],
  // An id.
  [/\b[0-9a-f]{16}\b/g, "[0-9a-f]{16}"],
  // How long something took, and how fast it was.
  [/\b\d+(?:\\\.\d+)? (?:ms|s|min)\b/g, "[\\d.]+ (?:ms|s|min)"],
  [/\b[\d,]+(?:\\\.\d+)?\/s\b/g, "[\\d.,]+/s"],
];
const ANY_TEXT = "[^\\n]*";
const ANY_LINES = "(?:[^\\n]*\\n)*?";

/**
 * Whether `actual` is what `expected` shows. In `expected`, `…` stands for any text within a line, and a line of nothing
 * but `…` for any number of lines. A time, an id, a duration and a rate each stand for any of their kind.
 */
export function isPrinted(actual: string, expected: string): boolean {
  const pattern = trimmedLines(expected).map((line) => (line.trim() === "…" ? ANY_LINES : `${linePattern(line)}\\n`));
  return new RegExp(`^${pattern.join("")}$`).test(`${trimmedLines(actual).join("\n")}\n`);
}

function linePattern(line: string): string {
  const escaped = line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const open = VARIABLE.reduce((text, [written, anything]) => text.replaceAll(written, () => anything), escaped);
  return open.replaceAll("…", ANY_TEXT);
}

/** The lines without white space at their ends, and without empty lines before the first and after the last. */
function trimmedLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "")
    .split("\n");
}
