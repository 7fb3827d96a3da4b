// What `npm test` does, in order. A step is a command; all of them run even when one fails.

export interface Step {
  readonly name: string;
  /** What it would catch, for the summary. */
  readonly checks: string;
  readonly command: string;
  readonly args: readonly string[];
}

function tool(script: string, ...args: string[]): Pick<Step, "command" | "args"> {
  return { command: process.execPath, args: ["--import", "./tools/ts/register.mjs", script, ...args] };
}

export const STEPS: readonly Step[] = [
  {
    name: "build",
    checks: "every package compiles to what is shipped",
    command: "turbo",
    args: ["run", "build", "--output-logs=errors-only"],
  },
  { name: "types", checks: "sources, tests and type tests type-check", command: "tsc", args: ["-b"] },
  {
    name: "lint",
    checks: "floating promises, exhaustive switches, computed imports",
    command: "oxlint",
    args: ["--deny-warnings"],
  },
  {
    name: "format",
    checks: "code and Markdown are formatted",
    command: "oxfmt",
    args: ["--check"],
  },
  { name: "boundaries", checks: "no package reaches above or beside its layer", ...tool("tools/boundaries/main.ts") },
  { name: "must-use", checks: "no Result is dropped", ...tool("tools/must-use/main.ts") },
  { name: "examples", checks: "every example in a README does what it says", ...tool("tools/readme/main.ts") },
  {
    name: "tests",
    checks: "unit, property, conformance, tidy, packaging",
    command: "vitest",
    args: ["run", "--reporter=default", "--reporter=./tools/check/reporter.ts"],
  },
  {
    name: "benches",
    checks: "every bench still runs (one iteration, nothing measured)",
    ...tool("tools/bench/main.ts", "--smoke"),
  },
];
