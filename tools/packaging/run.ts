// Child processes for the packaging tests.
import { spawn } from "node:child_process";

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(command: string, args: readonly string[], folder: string): Promise<Outcome> {
  const child = spawn(command, args, { cwd: folder, env: cleanEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => void (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (stderr += chunk));
  const exitCode = await new Promise<number | null>((settle, reject) => child.on("error", reject).on("close", settle));
  return { exitCode, stdout, stderr };
}

/** As `run`, for what has to succeed. */
export async function runOrThrow(command: string, args: readonly string[], folder: string): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command, args, folder);
  if (exitCode !== 0) throw new Error(`${[command, ...args].join(" ")} ended with ${exitCode}:\n${stderr}${stdout}`);
  return stdout;
}

/** `npm test` tells its children about the package it runs in; an npm that works elsewhere must not get these variables. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|config_local_prefix)/i.test(name)),
  );
}
