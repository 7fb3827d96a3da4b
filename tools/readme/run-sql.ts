// Runs the statements of an SQL block in a database that has the tables they name.
import type { Block } from "./blocks.ts";
import type { Engines } from "./engines.ts";
import type { Failure } from "./failure.ts";

export async function runSql({ file, line, code }: Block, engines: Engines): Promise<Failure[]> {
  const failures: Failure[] = [];
  const statements = splitStatements(code);
  await engines.runSql(
    statements.map(({ text }) => text),
    (index, what) => failures.push({ file, line: line + statements[index]!.lineIndex, what }),
  );
  return failures;
}

/** Statements end with a semicolon at the end of a line, or with the block. */
export function splitStatements(code: string): { readonly text: string; readonly lineIndex: number }[] {
  const statements: { text: string; lineIndex: number }[] = [];
  let current: string[] = [];
  for (const [index, line] of code.split("\n").entries()) {
    current.push(line);
    if (!/;\s*$/.test(line) && index < code.split("\n").length - 1) continue;
    const text = current.join("\n").trim();
    if (text !== "") statements.push({ text: text.replace(/;$/, ""), lineIndex: index - current.length + 1 });
    current = [];
  }
  return statements;
}
