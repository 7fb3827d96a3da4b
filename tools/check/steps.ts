// What `npm test` does. A step is a command; all of them run even when one fails.
import { COMMAND_CONFIG, CONSOLE_CONFIG, PACKAGES } from "../layers/layers.ts";

export interface Step {
  readonly name: string;
  /** What it would catch, for the summary. */
  readonly checks: string;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * When it runs: first what others need, then everything that runs beside others, one step for each core, then what
   * uses all cores by itself.
   */
  readonly phase: "first" | "beside" | "last";
}

function tool(script: string, ...args: string[]): Pick<Step, "command" | "args" | "phase"> {
  return { command: process.execPath, args: ["--import", "./tools/ts/register.mjs", script, ...args], phase: "beside" };
}

export const STEPS: readonly Step[] = [
  {
    name: "build",
    checks: "every package compiles to what is shipped",
    command: "tsc",
    args: ["-b", ...PACKAGES.map((name) => `packages/${name}/tsconfig.build.json`)],
    phase: "first",
  },
  {
    name: "console",
    checks: "the console's page is built",
    command: "vite",
    args: ["build", "--config", CONSOLE_CONFIG],
    phase: "first",
  },
  {
    name: "command",
    checks: "the command is bundled into few files",
    command: "vite",
    args: ["build", "--config", COMMAND_CONFIG],
    phase: "first",
  },
  {
    name: "types",
    checks: "sources, tests and type tests type-check",
    command: "tsc",
    args: ["-b"],
    phase: "beside",
  },
  {
    name: "lint",
    checks: "floating promises, exhaustive switches, computed imports",
    command: "oxlint",
    args: ["--deny-warnings"],
    phase: "beside",
  },
  {
    name: "format",
    checks: "code and Markdown are formatted",
    command: "oxfmt",
    args: ["--check"],
    phase: "beside",
  },
  { name: "boundaries", checks: "no package reaches above or beside its layer", ...tool("tools/boundaries/main.ts") },
  { name: "must-use", checks: "no Result is dropped", ...tool("tools/must-use/main.ts") },
  { name: "examples", checks: "every example in a README does what it says", ...tool("tools/readme/main.ts") },
  {
    name: "tests",
    checks: "unit, property, conformance, tidy, packaging",
    command: "vitest",
    args: ["run", "--reporter=default", "--reporter=./tools/check/reporter.ts"],
    phase: "last",
  },
  {
    name: "benches",
    checks: "every bench still runs (one iteration, nothing measured)",
    ...tool("tools/bench/main.ts", "--smoke"),
  },
];
