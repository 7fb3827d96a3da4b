// Runs a TypeScript block in a process of its own.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import ts from "typescript";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";
import { REPORT_DESCRIPTOR, type HarnessEvent } from "./harness.ts";
import { instrument } from "./instrument.ts";

const TIME_LIMIT_MS = 60_000;
/** Node's exit code for a module whose top-level await never settles. */
const EXIT_UNSETTLED = 13;

export interface Place {
  /** The folder that the block's imports are resolved from. */
  readonly folder: string;
  readonly resolve?: ((specifier: string) => string) | undefined;
  /** Options for Node, before the program. */
  readonly nodeArgs?: readonly string[];
  readonly timeLimitMs?: number;
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function runTypeScript(
  block: Block,
  { folder, resolve, nodeArgs = [], timeLimitMs = TIME_LIMIT_MS, env = {} }: Place,
): Promise<Failure[]> {
  const { javascript, markLines, failures } = instrument(block, resolve);
  if (failures.length > 0) return [...failures];

  const { events, exitCode, stderr, isTimedOut } = await execute(javascript, { folder, nodeArgs, timeLimitMs, env });
  const at = (line: number, what: string): Failure => ({ file: block.file, line: Math.max(line, block.line), what });
  const failed = events.flatMap((event) => (event.kind === "failed" ? [at(event.line, event.what)] : []));
  if (failed.length > 0) return failed;
  if (isTimedOut) return [at(0, `did not end within ${timeLimitMs} ms`)];
  if (exitCode === EXIT_UNSETTLED) return [at(0, "awaits a promise that never settles")];
  if (exitCode !== 0) return [at(0, `ends with code ${exitCode}: ${stderr.trim()}`)];

  const reached = new Set(events.map((event) => event.line));
  return markLines.filter((line) => !reached.has(line)).map((line) => at(line, "this // => was never reached"));
}

interface Execution {
  readonly events: readonly HarnessEvent[];
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly isTimedOut: boolean;
}

async function execute(
  javascript: string,
  { folder, nodeArgs, timeLimitMs, env }: Required<Omit<Place, "resolve">>,
): Promise<Execution> {
  // Code from standard input resolves its imports from the working directory.
  const child = spawn(process.execPath, [...nodeArgs, "--import", harnessUrl(), "--input-type=module", "-"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["pipe", "ignore", "pipe", "pipe"],
  });
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    child.kill("SIGKILL");
  }, timeLimitMs);
  child.stdin!.on("error", () => undefined).end(javascript);
  const [reports, stderr, exitCode] = await Promise.all([
    readAll(child.stdio[REPORT_DESCRIPTOR] as Readable),
    readAll(child.stderr!),
    new Promise<number | null>((settle, reject) => child.on("error", reject).on("close", settle)),
  ]);
  clearTimeout(timer);
  const events = reports
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as HarnessEvent);
  return { events, exitCode, stderr, isTimedOut };
}

async function readAll(stream: Readable): Promise<string> {
  stream.setEncoding("utf8");
  let text = "";
  for await (const chunk of stream) text += chunk as string;
  return text;
}

let cachedUrl: string | undefined;

function harnessUrl(): string {
  if (cachedUrl !== undefined) return cachedUrl;
  const source = readFileSync(join(import.meta.dirname, "harness.ts"), "utf8");
  const { outputText } = ts.transpileModule(`${source}\ninstall();\n`, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  cachedUrl = `data:text/javascript;base64,${Buffer.from(outputText).toString("base64")}`;
  return cachedUrl;
}
