import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** A pipe with one end to read here and one for a child process. Close the child's end here after the spawn. */
export interface OutputPipe {
  readonly reader: Readable;
  readonly childFd: number;
}

export interface OutputPipeOptions {
  /** Whether the readers end when no process has the child's ends open any more. Default: they never end. */
  readonly reportEnd?: boolean;
}

/**
 * Open two pipes for the output of a child.
 *
 * Node would give a child sockets, and no command can open `/dev/stdout` or `/dev/stderr` on those, as in `| tee
 * /dev/stderr`. These are real pipes. Their names are removed before this returns.
 */
export function openOutputPipes({ reportEnd = false }: OutputPipeOptions = {}): {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
} {
  const folder = mkdtempSync(join(tmpdir(), "gossip-pipes-"));
  try {
    const [out, error] = [join(folder, "out"), join(folder, "err")];
    const made = spawnSync("mkfifo", ["-m", "600", out, error], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.trim()}`);
    return { stdout: openPipe(out, reportEnd), stderr: openPipe(error, reportEnd) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openPipe(path: string, reportEnd: boolean): OutputPipe {
  // A pipe that is open for writing here too never reports its end.
  const readFd = openSync(path, (reportEnd ? constants.O_RDONLY : constants.O_RDWR) | constants.O_NONBLOCK);
  // Opened separately for the child: its writes must block when the pipe is full, not fail.
  const childFd = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd: readFd, readable: true, writable: false }), childFd };
}

export function closeChildEnds({ stdout, stderr }: { readonly stdout: OutputPipe; readonly stderr: OutputPipe }): void {
  closeSync(stdout.childFd);
  closeSync(stderr.childFd);
}
