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

/** The pipes for the output of a child. */
export interface OutputPipes {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
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
export function openOutputPipes(options: OutputPipeOptions = {}): OutputPipes {
  const [pipes] = openManyOutputPipes(1, options);
  return pipes!;
}

/** Open the pipes of several children. One process makes them all: starting one takes longer than the rest. */
export function openManyOutputPipes(
  count: number,
  { reportEnd = false }: OutputPipeOptions = {},
): readonly OutputPipes[] {
  const folder = mkdtempSync(join(tmpdir(), "gossip-pipes-"));
  try {
    const paths = Array.from({ length: 2 * count }, (_, index) => join(folder, String(index)));
    const made = spawnSync("mkfifo", ["-m", "600", ...paths], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.trim()}`);
    return Array.from({ length: count }, (_, index) => ({
      stdout: openPipe(paths[2 * index]!, reportEnd),
      stderr: openPipe(paths[2 * index + 1]!, reportEnd),
    }));
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

export function closeChildEnds({ stdout, stderr }: OutputPipes): void {
  closeSync(stdout.childFd);
  closeSync(stderr.childFd);
}

/** Close pipes that were not given to a child. */
export function closePipes(pipes: OutputPipes): void {
  closeChildEnds(pipes);
  pipes.stdout.reader.destroy();
  pipes.stderr.reader.destroy();
}
