import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the range of ephemeral ports. In that range, a server that is killed and restarted on its port could find it taken
 * by an outgoing connection, and a client that tries to reach it could even connect to itself on that port.
 */
const LOWEST = 20_000;
const BEYOND = 32_768;

/** A free loopback port that the system does not assign by itself. Only another call of this function may return the same. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => void server.close(() => resolve(true)));
  });
}
