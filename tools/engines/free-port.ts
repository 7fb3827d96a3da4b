import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below what systems give to whoever asks for no port of its own. A server that is killed and started again on its port would
 * else find it in the hands of a connection that somebody made meanwhile; one who tries to reach it even connects to itself,
 * now and then, on that very port.
 */
const LOWEST = 20_000;
const BEYOND = 32_768;

/** A loopback port that nobody listens on, and that nobody is given by chance: only another call of this may find the same. */
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
