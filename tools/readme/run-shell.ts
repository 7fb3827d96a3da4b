// Runs a shell block in a temporary folder, with the built programs on its path.
//
// What a block may rely on: `gossip`, `npx gossip-tso`, the folder /data with a few files, and the files of FILES.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { freePort } from "../engines/index.ts";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";
import { makePrograms } from "./programs.ts";

const TIME_LIMIT_MS = 60_000;
/** The ports that `gossip-tso` uses by default. A block gets two free ones in their place. */
const [TSO_PORT, TSO_HTTP_PORT] = ["50551", "50552"];

const FILES: Readonly<Record<string, string>> = {
  "data/a.txt": "a\n",
  "data/logs/2026 01.txt": "b\n",
  "data/logs/2026 02.txt": "c\n",
};

export interface ShellOptions {
  readonly timeLimitMs?: number;
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function runShell(
  { file, line, code }: Block,
  { timeLimitMs = TIME_LIMIT_MS, env = {} }: ShellOptions = {},
): Promise<Failure[]> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-example-"));
  try {
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const ports = [String(await freePort()), String(await freePort())] as const;
    const bin = await makePrograms(folder, ports);
    const script = code
      .replaceAll(/(?<=fs:|\s)\/data\b/g, join(folder, "data"))
      .replaceAll(`:${TSO_PORT}`, `:${ports[0]}`)
      .replaceAll(`:${TSO_HTTP_PORT}`, `:${ports[1]}`);
    const { exitCode, output, isTimedOut } = await execute(script, { folder, bin, timeLimitMs, env });
    if (isTimedOut) return [{ file, line, what: `did not end within ${timeLimitMs} ms: ${output}` }];
    return exitCode === 0 ? [] : [{ file, line, what: `ends with code ${exitCode}: ${output}` }];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Surroundings extends Required<ShellOptions> {
  readonly folder: string;
  readonly bin: string;
}

async function execute(
  script: string,
  { folder, bin, timeLimitMs, env }: Surroundings,
): Promise<{ readonly exitCode: number | null; readonly output: string; readonly isTimedOut: boolean }> {
  const child = spawn("/bin/sh", ["-eu", "-c", script], {
    cwd: folder,
    env: { ...process.env, ...env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that what it leaves running can be ended.
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    endGroup(child.pid!);
  }, timeLimitMs);
  const [exitCode] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  endGroup(child.pid!);
  return { exitCode, output: output.trim(), isTimedOut };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}
