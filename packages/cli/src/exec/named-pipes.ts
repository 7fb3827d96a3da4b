import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** One end to be read here, and one to be given to a child, which must be closed here after that. */
export interface OutputPipe {
  readonly reader: Readable;
  readonly childFd: number;
}

/**
 * Two pipes for the output of a child.
 *
 * What Node would give a child are sockets, and no command can open `/dev/stdout` or `/dev/stderr` on those, as in
 * `| tee /dev/stderr`. These are pipes. Their names are gone when this returns.
 */
export function openOutputPipes(): { readonly stdout: OutputPipe; readonly stderr: OutputPipe } {
  const folder = mkdtempSync(join(tmpdir(), "gossip-pipes-"));
  try {
    const [out, error] = [join(folder, "out"), join(folder, "err")];
    const made = spawnSync("mkfifo", ["-m", "600", out, error], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.trim()}`);
    return { stdout: openPipe(out), stderr: openPipe(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openPipe(path: string): OutputPipe {
  // Open for writing as well as reading: a pipe without a writer would report its end at once.
  const readFd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  // Opened anew for the child, which must wait where the pipe is full and not be refused.
  const childFd = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd: readFd, readable: true, writable: false }), childFd };
}

export function closeChildEnds({ stdout, stderr }: { readonly stdout: OutputPipe; readonly stderr: OutputPipe }): void {
  closeSync(stdout.childFd);
  closeSync(stderr.childFd);
}
