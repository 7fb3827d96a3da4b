// What a hostile or broken client can do with sockets alone. Each case is tried with real ones.
import { TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { GossipServer } from "../server.ts";
import type { ServiceLimits } from "./limits.ts";

const OURS = TenantId.fromBytes(new Uint8Array(32).fill(1));
let server: GossipServer;
const opened: Socket[] = [];

async function start(limits: Partial<ServiceLimits>): Promise<void> {
  const clock = new ManualClock(1_000n);
  server = unwrap(
    await GossipServer.start({
      coordinator: new Coordinator({ store: new MemoryStore(), clock }),
      clock,
      listen: { port: 0 },
      limits,
      authenticate: ({ headers }) => {
        const [, token] = /^Bearer (\w+)$/.exec(headers.authorization ?? "") ?? [];
        return token === undefined ? undefined : new Principal(token, "work", new Set([OURS]));
      },
    }),
  );
}

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await server.close();
});

function open(): Socket {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  opened.push(socket);
  return socket;
}

/** What the server sends until it closes the connection. */
function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (part) => (text += part.toString()));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

const HEAD = "POST /v1/renew HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\ncontent-type: application/json\r\n";

test.each([
  ["sends nothing", ""],
  ["never finishes its headers", "GET /v1/runs HTTP/1.1\r\nhost: x\r\n"],
  ["never finishes its body", `${HEAD}content-length: 100\r\n\r\n{"elements":`],
  ["never finishes a chunk", `${HEAD}transfer-encoding: chunked\r\n\r\n64\r\n{`],
])("a client that %s is cut off", async (_, text) => {
  await start({ headersTimeoutMs: 50, requestTimeoutMs: 50 });
  const socket = open();
  if (text !== "") socket.write(text);
  expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 |^$/);
  // Others are served. On a busy machine this client may itself take longer than it is allowed to.
  let status: number;
  do ({ status } = await fetch(`${server.url}/healthz`));
  while (status === 408);
  expect(status).toBe(200);
});

test("a connection that is silent for too long is closed", async () => {
  await start({ idleTimeoutMs: 50, keepAliveTimeoutMs: 10_000 });
  const socket = open();
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  expect(await untilClosed(socket)).toContain("200 OK");
});

test("a body that is too large is refused, and the rest of it is not read", async () => {
  await start({ maxBodyBytes: 1_000 });
  for (const head of [`${HEAD}content-length: 99999999\r\n\r\n`, `${HEAD}transfer-encoding: chunked\r\n\r\n800\r\n`]) {
    const socket = open();
    socket.write(`${head}${" ".repeat(2_048)}`);
    const answer = await untilClosed(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  }
});

test("bodies that are received together are bounded", async () => {
  await start({ maxPendingBytes: 1_000 });
  const slow = open();
  slow.write(`${HEAD}content-length: 900\r\n\r\n{`);
  // Wait until the server has counted it.
  while (!(await (await fetch(`${server.url}/metrics`)).text()).includes("gossip_pending_body_bytes 900\n"));
  const refused = await fetch(`${server.url}/v1/renew`, {
    method: "POST",
    headers: { authorization: "Bearer b", "content-type": "application/json" },
    body: JSON.stringify({ elements: [], pad: "x".repeat(200) }),
  });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  slow.destroy();
  while (!(await (await fetch(`${server.url}/metrics`)).text()).includes("gossip_pending_body_bytes 0\n"));
});

test("connections of one token are limited, and those of other tokens are not", async () => {
  await start({ maxConnectionsPerToken: 2 });
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const ask = (agent: Agent, token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      request(`${server.url}/v1/runs`, { agent, headers }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      })
        .on("error", reject)
        .end();
    });
  try {
    expect(await ask(agents[0]!, "a")).toBe(200);
    expect(await ask(agents[1]!, "a")).toBe(200);
    expect(await ask(agents[2]!, "a")).toBe(429);
    expect(await ask(agents[3]!, "b")).toBe(200);
    // A connection that it has may be used on, and one that closes makes room.
    expect(await ask(agents[0]!, "a")).toBe(200);
    agents[0]!.destroy();
    while (server.connectionCount > 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask(agents[2]!, "a")).toBe(200);
  } finally {
    for (const agent of agents) agent.destroy();
  }
});

test("more connections than the server takes are closed", async () => {
  await start({ maxConnections: 2 });
  const kept = [open(), open()];
  await Promise.all(kept.map((socket) => new Promise((resolve) => socket.on("connect", resolve))));
  expect(await untilClosed(open())).toBe("");
});
