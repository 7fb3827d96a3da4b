// Whatever answers at etcd's address, the client must come back with a value: an exception here would end the process that
// asked. A write that may have happened and is reported as failed would be made twice. One that certainly failed and is
// reported as unknown costs every caller another read. These tests tell the two apart for each way a request can fail.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeMember } from "./fake-member.fixture.ts";
import { JsonGateway } from "./json-gateway.ts";
import { ScriptedTime } from "./scripted-time.fixture.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

const NOBODY = "http://127.0.0.1:1";

let member: FakeMember;
let time: ScriptedTime;
let gateways: JsonGateway[];
beforeEach(async () => {
  member = await FakeMember.start();
  time = new ScriptedTime();
  gateways = [];
});
afterEach(async () => {
  for (const gateway of gateways) gateway.close();
  await member.close();
});

function open(
  endpoints = [member.endpoint],
  credentials: { readonly username?: string; readonly password?: string } = {},
): JsonGateway {
  const gateway = new JsonGateway({
    endpoints,
    timers: time.timers,
    requestTimeoutMs: 1000,
    maxMessageSize: 1 << 20,
    ...credentials,
  });
  gateways.push(gateway);
  return gateway;
}

describe("one member", () => {
  test.each([
    { status: 200, body: "", error: { kind: "EtcdUnavailable", mayBeDone: true } },
    { status: 200, body: "not json", error: { kind: "EtcdUnavailable", mayBeDone: true } },
    { status: 200, body: "[]", error: { kind: "EtcdUnavailable", mayBeDone: true } },
    { status: 200, body: "null", error: { kind: "EtcdUnavailable", mayBeDone: true } },
    { status: 200, body: `{"a":"${"x".repeat(2_000_000)}"}`, error: { kind: "EtcdUnavailable", mayBeDone: true } },
    {
      status: 503,
      body: '{"message":"etcdserver: request timed out","code":14}',
      error: { kind: "EtcdUnavailable", mayBeDone: true },
    },
    { status: 502, body: "<html>", error: { kind: "EtcdUnavailable", mayBeDone: true } },
    { status: 429, body: "{}", error: { kind: "EtcdUnavailable", mayBeDone: false } },
    {
      status: 429,
      body: '{"message":"etcdserver: too many requests","code":8}',
      error: { kind: "EtcdUnavailable", mayBeDone: false },
    },
    {
      status: 429,
      body: '{"message":"etcdserver: mvcc: database space exceeded","code":8}',
      error: { kind: "EtcdUnavailable", mayBeDone: true },
    },
    { status: 404, body: '{"message":"lease not found","code":5}', error: { kind: "EtcdRefused", code: 5 } },
    { status: 404, body: "Not Found", error: { kind: "EtcdRefused", code: 0 } },
    { status: 400, body: "{}", error: { kind: "EtcdRefused", code: 0 } },
  ])("a write that is answered with $status is $error", async ({ error, ...given }) => {
    member.reply = () => given;
    expect(await open().call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({ ok: false, error });
    expect(member.requests.length).toBe(1);
  });

  test("a write whose connection breaks may be done, and is not repeated", async () => {
    member.reply = () => "hang up";
    const error = { kind: "EtcdUnavailable", reason: "ECONNRESET", mayBeDone: true };
    expect(await open().call("/v3/kv/put", {}, { kind: "Write" })).toEqual({ ok: false, error });
    expect(member.requests.length).toBe(1);
  });

  test("a read whose connection breaks is asked once more", async () => {
    member.reply = () => (member.requests.length === 1 ? "hang up" : { status: 200, body: "{}" });
    expect(await open().call("/v3/kv/range", {}, { kind: "Read" })).toEqual({ ok: true, value: {} });
  });

  test("silence ends when its time is up, and the write may be done", async () => {
    member.reply = () => "silence";
    const asked = open().call("/v3/kv/put", {}, { kind: "Write" });
    while (member.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    time.elapse(1000);
    expect(await asked).toEqual({
      ok: false,
      error: { kind: "EtcdUnavailable", reason: "no answer came in time", mayBeDone: true },
    });
    expect(time.waiting).toBe(0);
  });

  test("half an answer is none, whether the connection breaks or the time is up", async () => {
    member.reply = () => "half, then hang up";
    expect(await open().call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { kind: "EtcdUnavailable", mayBeDone: true },
    });
    member.reply = () => "half, then silence";
    const asked = open().call("/v3/kv/put", {}, { kind: "Write" });
    while (member.requests.length === 1) await new Promise((resolve) => setImmediate(resolve));
    time.elapse(1000);
    expect(await asked).toEqual({
      ok: false,
      error: { kind: "EtcdUnavailable", reason: "no answer came in time", mayBeDone: true },
    });
    expect([time.waiting, member.requests.length]).toEqual([0, 2]);
  });

  test("what is asked next goes on the same connection, and what is asked meanwhile does not wait for it", async () => {
    const gateway = open();
    for (let asked = 0; asked < 20; asked++)
      expect((await gateway.call("/v3/kv/put", {}, { kind: "Write" })).ok).toBe(true);
    expect(await member.connections()).toBe(1);
    await Promise.all(Array.from({ length: 3 }, () => gateway.call("/v3/kv/put", {}, { kind: "Write" })));
    expect(await member.connections()).toBe(3);
  });

  test("no server there, or a request that is too large: it was not done", async () => {
    expect(await open([NOBODY]).call("/v3/kv/put", {}, { kind: "Write" })).toEqual({
      ok: false,
      error: { kind: "EtcdUnavailable", reason: "ECONNREFUSED", mayBeDone: false },
    });
    expect(await open().call("/v3/kv/put", { value: "x".repeat(2 << 20) }, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { mayBeDone: false },
    });
    expect(member.requests.length).toBe(0);
  });
});

describe("several members", () => {
  let second: FakeMember;
  beforeEach(async () => {
    second = await FakeMember.start();
  });
  afterEach(() => second.close());

  test("one that is not there is passed over, and not asked again", async () => {
    const gateway = open([NOBODY, member.endpoint]);
    for (const kind of ["Write", "Read", "Write"] as const)
      expect((await gateway.call("/v3/kv/put", {}, { kind })).ok).toBe(true);
    expect(member.requests.length).toBe(3);
  });

  test("a read goes on to the next where one breaks off; a write does not, but the next one does", async () => {
    member.reply = () => "hang up";
    const gateway = open([member.endpoint, second.endpoint]);
    expect(await gateway.call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { mayBeDone: true },
    });
    expect([member.requests.length, second.requests.length]).toEqual([1, 0]);
    expect((await gateway.call("/v3/kv/put", {}, { kind: "Write" })).ok).toBe(true);
    const other = open([member.endpoint, second.endpoint]);
    expect((await other.call("/v3/kv/range", {}, { kind: "Read" })).ok).toBe(true);
  });

  test("if no endpoint answers, each is tried once", async () => {
    expect(await open([NOBODY, "http://127.0.0.1:2"]).call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { mayBeDone: false },
    });
  });
});

describe("a login", () => {
  const credentials = { username: "ann", password: "secret-word" };
  let tokens: number;
  let accepted: string;
  beforeEach(() => {
    tokens = 0;
    accepted = "t1";
    member.reply = ({ path, authorization }) => {
      if (path === "/v3/auth/authenticate") return { status: 200, body: `{"token":"t${++tokens}"}` };
      if (authorization === accepted) return { status: 200, body: "{}" };
      return { status: 401, body: '{"message":"etcdserver: invalid auth token","code":16}' };
    };
  });

  test("is made once for all waiting calls, and its token is sent", async () => {
    const gateway = open([member.endpoint], credentials);
    const all = await Promise.all([1, 2, 3].map(() => gateway.call("/v3/kv/put", {}, { kind: "Write" })));
    expect(all.every(({ ok }) => ok)).toBe(true);
    expect(tokens).toBe(1);
    expect(member.requests[0]!.body).toBe('{"name":"ann","password":"secret-word"}');
  });

  test("is made again where its token has lapsed, and what was refused is asked again", async () => {
    const gateway = open([member.endpoint], credentials);
    expect((await gateway.call("/v3/kv/put", {}, { kind: "Write" })).ok).toBe(true);
    accepted = "t2";
    const all = await Promise.all([1, 2, 3].map(() => gateway.call("/v3/kv/put", {}, { kind: "Write" })));
    expect([all.every(({ ok }) => ok), tokens]).toEqual([true, 2]);
  });

  test("that is refused is the answer, once, and shows neither name nor password", async () => {
    member.reply = () => ({
      status: 400,
      body: '{"message":"etcdserver: authentication failed, invalid user ID or password","code":3}',
    });
    const answer = await open([member.endpoint], credentials).call("/v3/kv/put", {}, { kind: "Write" });
    expect(answer).toMatchObject({ ok: false, error: { kind: "EtcdRefused", code: 3 } });
    expect(JSON.stringify(answer)).not.toMatch(/ann|secret-word/u);
    expect(member.requests.length).toBe(1);
  });

  test("that breaks off leaves the write undone", async () => {
    member.reply = () => "hang up";
    expect(await open([member.endpoint], credentials).call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { mayBeDone: false },
    });
  });

  test("that takes too long ends with the request that waits for it, which was not done", async () => {
    member.reply = () => "silence";
    const asked = open([member.endpoint], credentials).call("/v3/kv/put", {}, { kind: "Write", timeoutMs: 300 });
    while (member.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    time.elapse(300);
    expect(await asked).toEqual({
      ok: false,
      error: { kind: "EtcdUnavailable", reason: "no answer came in time", mayBeDone: false },
    });
  });

  test("of which the token is never taken ends all the same", async () => {
    accepted = "none";
    expect(await open([member.endpoint], credentials).call("/v3/kv/put", {}, { kind: "Write" })).toMatchObject({
      ok: false,
      error: { code: 16 },
    });
    expect(tokens).toBe(2);
  });
});

describe("a stream", () => {
  test.each([
    { body: '{"result":{"a":1}}\n\n{"result":{"a":2}}\n', heard: 2, reason: "the stream ended" },
    { body: '{"result":{"a":1}}\nrubbish\n{"result":{"a":2}}\n', heard: 1, reason: "an answer is no JSON" },
    {
      body: '{"error":{"message":"etcdserver: no leader"}}\n{"result":{"a":2}}\n',
      heard: 0,
      reason: "etcdserver: no leader",
    },
    {
      body: '{"error":"x","message":"etcdserver: permission denied","code":7}',
      heard: 0,
      reason: "etcdserver: permission denied",
    },
  ])("hands on every line and ends once: $reason", async ({ body, heard, reason }) => {
    member.reply = () => ({ status: 200, body });
    const answers: unknown[] = [];
    expect(
      await new Promise((resolve) => void open().stream("/v3/watch", {}, (answer) => answers.push(answer), resolve)),
    ).toBe(reason);
    expect(answers.length).toBe(heard);
  });

  test("that is stopped says nothing more", async () => {
    member.reply = () => "silence";
    const ends: string[] = [];
    const stop = open().stream(
      "/v3/watch",
      {},
      () => {},
      (reason) => ends.push(reason),
    );
    while (member.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toEqual([]);
  });
});

test.each([
  [{ endpoints: [] }, "at least one"],
  [{ endpoints: ["127.0.0.1:2379"] }, "http://"],
  [{ endpoints: ["ftp://a"] }, "http://"],
  [{ endpoints: ["http://a:1/etcd"] }, "host and port"],
  [{ endpoints: ["http://ann:secret-word@a"] }, "options of their own"],
  [{ endpoints: [NOBODY], username: "ann" }, "password"],
  [{ endpoints: [NOBODY], tls: { cert: "x" } }, "needs its key"],
  [{ endpoints: [NOBODY], tls: { cert: "x", key: "y" } }, "PEM that OpenSSL can read"],
  [{ endpoints: [NOBODY], requestTimeoutMs: 0 }, "requestTimeoutMs"],
  [undefined, "options"],
])("%j is refused, in words that hold no secret", (options, words) => {
  const attempt = (): JsonGateway => new JsonGateway(options as never);
  expect(attempt).toThrow(words);
  expect(attempt).not.toThrow("secret-word");
});
