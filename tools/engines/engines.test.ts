// A store's tests are worth what the engines under them are. Each must come up, survive a crash on the same
// address and data, and leave nothing running and nothing on disk.
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { etcdMissing, startEtcd } from "./etcd.ts";
import { freePort } from "./free-port.ts";
import { startPostgres } from "./postgres.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once("connect", () => resolve((socket.destroy(), true)));
    socket.once("error", () => resolve(false));
  });
}

// A server that is killed cannot start again if a connection took its port meanwhile.
test("a free port is none that the system assigns by itself", async () => {
  const given: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const listener = createServer();
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    given.push((listener.address() as AddressInfo).port);
    await new Promise<void>((resolve) => void listener.close(() => resolve()));
    expect(await freePort()).toBeLessThan(Math.min(...given));
  }
});

describe("postgres", () => {
  test("comes up, survives a crash, and leaves nothing", async () => {
    const server = await startPostgres();
    const { pid, url } = server;
    expect(await accepts(url)).toBe(true);
    await server.restart();
    expect(isAlive(pid)).toBe(false);
    expect(await accepts(url)).toBe(true);
    const second = server.pid;
    await server.dispose();
    expect(isAlive(second)).toBe(false);
    expect(await accepts(url)).toBe(false);
  });
});

describe("etcd", () => {
  test("comes up, survives a crash, and leaves nothing", async (context) => {
    const missing = etcdMissing();
    if (missing !== undefined && process.env["GOSSIP_REQUIRE_ENGINES"] !== "1") context.skip(missing);
    const server = await startEtcd();
    const { pid, endpoint } = server;
    expect(await accepts(endpoint)).toBe(true);
    await server.restart();
    expect(isAlive(pid)).toBe(false);
    expect(await accepts(endpoint)).toBe(true);
    const second = server.pid;
    await server.dispose();
    expect(isAlive(second)).toBe(false);
    expect(await accepts(endpoint)).toBe(false);
  });
});
