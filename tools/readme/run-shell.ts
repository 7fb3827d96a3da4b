// Runs a shell block in a temporary folder, with the built programs on its path.
//
// What a block may rely on: `gossip`, `npx gossip-tso`, the folder /data with a few files, and the files of FILES.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { freePort } from "../engines/index.ts";
import { packageFolder } from "../layers/layers.ts";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";

const TIME_LIMIT_MS = 60_000;
/** The ports that `gossip-tso` uses by default. A block gets two free ones in their place. */
const [TSO_PORT, TSO_HTTP_PORT] = ["50551", "50552"];

const FILES: Readonly<Record<string, string>> = {
  "data/a.txt": "a\n",
  "data/logs/2026 01.txt": "b\n",
  "data/logs/2026 02.txt": "c\n",
};

export async function runShell({ file, line, code }: Block, timeLimitMs: number = TIME_LIMIT_MS): Promise<Failure[]> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-example-"));
  try {
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const ports = [String(await freePort()), String(await freePort())] as const;
    const bin = makePrograms(folder, ports);
    const script = code
      .replaceAll(/(?<=fs:|\s)\/data\b/g, join(folder, "data"))
      .replaceAll(`:${TSO_PORT}`, `:${ports[0]}`)
      .replaceAll(`:${TSO_HTTP_PORT}`, `:${ports[1]}`);
    const { exitCode, output, isTimedOut } = await execute(script, { folder, bin, timeLimitMs });
    if (isTimedOut) return [{ file, line, what: `did not end within ${timeLimitMs} ms: ${output}` }];
    return exitCode === 0 ? [] : [{ file, line, what: `ends with code ${exitCode}: ${output}` }];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function makePrograms(folder: string, [tsoPort, httpPort]: readonly [string, string]): string {
  const bin = join(folder, "bin");
  const node = JSON.stringify(process.execPath);
  const program = (name: string, entry: string): string => JSON.stringify(join(packageFolder(name), "dist/bin", entry));
  const programs = {
    gossip: `exec ${node} ${program("cli", "gossip.js")} "$@"`,
    // A stand-in where the machine has none.
    ...(spawnSync("curl", ["--version"]).error === undefined
      ? {}
      : {
          curl: `exec ${node} -e 'fetch(process.argv.at(-1)).then(async (r) => process.exit(r.ok ? 0 : 22))' "$@"`,
        }),
    // A server runs on in the background, and the script goes on once it serves.
    npx: `
[ "$1 $2" = "gossip-tso serve" ] || { echo "the example runner knows npx gossip-tso serve only" >&2; exit 64; }
shift
${node} ${program("tso-server", "gossip-tso.js")} "$@" --listen 127.0.0.1:${tsoPort} --http 127.0.0.1:${httpPort} >server.log 2>&1 &
until grep -q '^serving ' server.log; do kill -0 $! 2>&1 || { cat server.log >&2; exit 1; }; sleep 0.05; done`,
  };
  mkdirSync(bin);
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

interface Surroundings {
  readonly folder: string;
  readonly bin: string;
  readonly timeLimitMs: number;
}

async function execute(
  script: string,
  { folder, bin, timeLimitMs }: Surroundings,
): Promise<{ readonly exitCode: number | null; readonly output: string; readonly isTimedOut: boolean }> {
  const child = spawn("/bin/sh", ["-eu", "-c", script], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
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
