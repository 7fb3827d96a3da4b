import { spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { err, ok, Redacted, type Result } from "@gossip/stdx";
import type { LmdbOpenError } from "../open/lmdb-open-error.ts";
import { CODE_MARK, DAMAGED_MARK, SOUND_MARK } from "./walk-marks.ts";

/** How long the child may make no progress before the store counts as damaged. */
export const STALL_MS = 30_000;

/**
 * Lets the engine read the whole file of a store in a process of its own.
 *
 * The engine trusts its file. If the file is damaged, it may end the process that reads it, or never return. Both
 * become `StoreDamaged`, as does damage that the engine reports.
 */
export async function walkInChild(folder: string, stallMs: number = STALL_MS): Promise<Result<void, LmdbOpenError>> {
  try {
    return judge(await run(folder, stallMs));
  } catch (cause) {
    return err({ kind: "Unavailable", code: (cause as NodeJS.ErrnoException).code, cause: new Redacted(cause) });
  }
}

/** How the process ended. */
interface Ended {
  readonly output: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

function judge({ output, exitCode, signal }: Ended): Result<void, LmdbOpenError> {
  if (output.endsWith(SOUND_MARK)) return ok();
  // Killed by the engine, or by us because it made no progress.
  if (signal !== null || output.endsWith(DAMAGED_MARK)) return err({ kind: "StoreDamaged" });
  const at = output.lastIndexOf(CODE_MARK);
  const code = at === -1 ? undefined : output.slice(at + CODE_MARK.length) || undefined;
  if (code === "GateDamaged" || code === "DiskFull") return err({ kind: code });
  return err({ kind: "Unavailable", code, cause: new Redacted(`the check of the store ended with ${exitCode}`) });
}

function run(folder: string, stallMs: number): Promise<Ended> {
  // It lies beside this file, with the same extension: as source, built, or as an entry of a bundle.
  const script = fileURLToPath(new URL(`./walk-process${extname(import.meta.url)}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, script, folder], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    const stalled = setTimeout(() => child.kill("SIGKILL"), stallMs);
    child.stdout.setEncoding("latin1").on("data", (text: string) => {
      // Only the end matters, and a large store prints many dots.
      output = (output + text).slice(-256);
      stalled.refresh();
    });
    child.once("error", (cause) => {
      clearTimeout(stalled);
      reject(cause);
    });
    child.once("close", (exitCode, signal) => {
      clearTimeout(stalled);
      resolve({ output, exitCode, signal });
    });
  });
}
