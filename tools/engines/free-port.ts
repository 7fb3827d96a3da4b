import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Below the range of ephemeral ports. In that range, a server that is killed and restarted on its port could find it taken
 * by an outgoing connection, and a client that tries to reach it could even connect to itself on that port.
 */
const LOWEST = 20_000;
const BEYOND = 32_768;

/** No server of a test starts later than this after its port was chosen. */
const RESERVED_MS = 600_000;

/** A free loopback port that the system does not assign by itself. No other call returns it in the next ten minutes. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND);
    if (reserve(port) && (await isFree(port))) return port;
  }
}

/** Not `tmpdir()`: `npm test` has a temporary folder of its own, and its ports must not be those of other processes. */
const SHARED = existsSync("/tmp") ? "/tmp" : tmpdir();

/** Reserve a port among all processes of this user. Returns false if another call has it. */
function reserve(port: number): boolean {
  const folder = join(SHARED, `gossip-ports-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, String(port));
  try {
    writeFileSync(file, "", { flag: "wx" });
    return true;
  } catch {
    if (statSync(file).mtimeMs > Date.now() - RESERVED_MS) return false;
    utimesSync(file, new Date(), new Date());
    return true;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => void server.close(() => resolve(true)));
  });
}
