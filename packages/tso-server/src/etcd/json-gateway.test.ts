// Whatever answers at etcd's address, the client must come back with a value: an exception here would end the leader's process, and a
// wrong answer taken for a right one would end its lease.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ScriptedTime } from "../client/scripted-time.fixture.ts";
import { turnEventLoop } from "../testing/manual-time.ts";
import { EtcdClient } from "./etcd-client.ts";
import { JsonGateway } from "./json-gateway.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

let server: Server;
let reply: { readonly status: number; readonly body: string } | "silence" | "hang up";
let requests: string[];
let time: ScriptedTime;
beforeEach(async () => {
  requests = [];
  time = new ScriptedTime();
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    request.resume();
    if (reply === "silence") return;
    if (reply === "hang up") return void request.socket.destroy();
    response.writeHead(reply.status);
    response.end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
});

const endpoint = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const gateway = (): JsonGateway => new JsonGateway({ endpoints: [endpoint()], timers: time.timers, requestTimeoutMs: 1000 });

describe("JsonGateway", () => {
  test.each([
    { status: 200, body: "", kind: "EtcdUnavailable" },
    { status: 200, body: "not json", kind: "EtcdUnavailable" },
    { status: 200, body: "[]", kind: "EtcdUnavailable" },
    { status: 200, body: "null", kind: "EtcdUnavailable" },
    { status: 200, body: `{"a":"${"x".repeat(2_000_000)}"}`, kind: "EtcdUnavailable" },
    { status: 503, body: '{"message":"no leader","code":14}', kind: "EtcdUnavailable" },
    { status: 429, body: "{}", kind: "EtcdUnavailable" },
    { status: 404, body: '{"message":"lease not found","code":5}', kind: "EtcdRefused" },
    { status: 400, body: "{}", kind: "EtcdRefused" },
    { status: 502, body: "<html>", kind: "EtcdUnavailable" },
  ])("an answer of $status is $kind", async ({ kind, ...given }) => {
    reply = given;
    const client = gateway();
    expect(await client.call("/v3/kv/range", {})).toMatchObject({ ok: false, error: { kind } });
    client.close();
  });

  test("a connection that breaks is an answer too", async () => {
    reply = "hang up";
    const client = gateway();
    expect(await client.call("/v3/kv/range", {})).toEqual({ ok: false, error: { kind: "EtcdUnavailable", reason: "ECONNRESET" } });
    client.close();
  });

  test("silence ends when its time is up", async () => {
    reply = "silence";
    const client = gateway();
    const asked = client.call("/v3/kv/range", {});
    for (let turn = 0; requests.length === 0 && turn < 10_000; turn++) await turnEventLoop();
    time.elapse(1000);
    expect(await asked).toEqual({ ok: false, error: { kind: "EtcdUnavailable", reason: "no answer came in time" } });
    client.close();
  });

  test("a member that fails is left for the next, and the next failure comes back to it", async () => {
    reply = { status: 200, body: "{}" };
    const client = new JsonGateway({ endpoints: ["http://127.0.0.1:1", endpoint()], timers: time.timers, requestTimeoutMs: 1000 });
    expect((await client.call("/v3/kv/range", {})).ok).toBe(false);
    expect((await client.call("/v3/kv/range", {})).ok).toBe(true);
    expect((await client.call("/v3/kv/range", {})).ok).toBe(true);
    expect(requests.length).toBe(2);
    client.close();
  });

  test("a stream hands on every line, and ends once: with nonsense, with the connection, or never", async () => {
    const client = gateway();
    for (const body of ['{"result":{"a":1}}\n\n{"result":{"a":2}}\n', '{"result":{"a":1}}\nrubbish\n{"result":{"a":2}}\n']) {
      reply = { status: 200, body };
      const heard: unknown[] = [];
      const reason = await new Promise((resolve) => void client.stream("/v3/watch", {}, (answer) => heard.push(answer), resolve));
      expect([heard.length, reason]).toEqual(body.includes("rubbish") ? [1, "an answer is no JSON"] : [2, "the stream ended"]);
    }
    client.close();
  });
});

describe("EtcdClient", () => {
  const client = (): EtcdClient => new EtcdClient({ endpoints: [endpoint()], timers: time.timers, requestTimeoutMs: 1000 });
  const header = '"header":{"revision":"7"}';

  test.each(["{}", '{"kvs":[]}', '{"header":{}}', '{"header":{"revision":7}}', '{"header":{"revision":"0"},"kvs":[]}'])(
    "does not take %s for etcd's word that there is no such key",
    async (body) => {
      reply = { status: 200, body };
      const [got, done, granted] = [await client().get("k"), await client().txn({ compare: [], success: [], failure: [] }), await client().grantLease(5)];
      for (const result of [got, done, granted]) expect(result).toMatchObject({ ok: false, error: { kind: "EtcdUnavailable" } });
    },
  );

  test.each([`{${header}}`, `{${header},"kvs":7}`, `{${header},"kvs":[{}]}`, `{${header},"kvs":[{"create_revision":"x","value":3}]}`, `{${header},"responses":[null,7,{"response_range":{"kvs":[null]}}],"succeeded":"yes"}`])(
    "makes zeros of what is missing or odd in %s",
    async (body) => {
      reply = { status: 200, body };
      const [got, done, lease, alive] = [await client().get("k"), await client().txn({ compare: [], success: [], failure: [] }), await client().keepLeaseAlive(5n, 1000), await client().isLeaseAlive(5n)];
      expect([got.ok, done.ok && done.value.succeeded, lease, alive.ok]).toEqual([true, false, { ok: true, value: { ttlS: 0 } }, true]);
    },
  );
});
