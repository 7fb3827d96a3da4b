// Every command must do through a service what it does on a folder. A command that reads records directly would work in
// every other test and fail for each user who has only a URL and a token.
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:http";
import { makeCertificates, tlsSkipped } from "@gossip/tools/engines";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gossipLine, type Said } from "./command-line.fixture.ts";
import { serving } from "./serving.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-service-store-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 40 }, (_, index) => `row ${index + 10}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Said> =>
  gossipLine(argv, { cwd: folder, env });
const FINE = { code: 0, stderr: expect.not.stringContaining("gossip:") as string };
const ZERO = "0".repeat(64);

async function makeToken(role: string): Promise<string> {
  const made = await at(["token", "create", "--tokens", "tokens.json", "--role", role, "--tenant", ZERO]);
  expect(made.code).toBe(0);
  return made.stdout.trim();
}

test("a server of something else is no defect of gossip", async () => {
  let body = "";
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  for (body of ["[]", "{}", "null", '"text"', '{"timestamp":5}', '{"timestamp":"soon"}'])
    expect(await at(["runs", "--store", `http://127.0.0.1:${port}`])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("cannot be reached (what answers there is not a service of gossip)") as string,
    });
  server.close();
});

test("every command works on a service, and prints no token", async () => {
  const token = await makeToken("operate");
  writeFileSync(join(folder, "token"), `${token}\n`);
  await serving(["--store", "store", "--tokens", "tokens.json"], { cwd: folder }, async (url) => {
    const printed: string[] = [];
    const on = async (...argv: string[]): Promise<Said> => {
      const said = await at([...argv, "--store", url], { GOSSIP_TOKEN: token });
      printed.push(said.stdout, said.stderr);
      return said;
    };
    const run = ["run", "mine", "--source", "lines:rows", "--out", "out.ndjson", "--shards", "4"];
    const exec = ["--exec", "case {} in *13) env >&2; exit 1;; esac; echo {}; env", "--retries", "0"];
    expect(await on(...run, ...exec)).toMatchObject({ code: 3 });
    const results = readFileSync(join(folder, "out.ndjson"), "utf8");
    expect(results.trim().split("\n")).toHaveLength(40);
    expect(results).toContain("GOSSIP_RUN");
    for (const hidden of [token, "GOSSIP_TOKEN"]) expect(results).not.toContain(hidden);
    expect((await on("status", "--json")).stdout).toContain('"status":"Done"');
    expect((await on("status", "--watch")).code).toBe(0);
    expect((await on("runs")).stdout).toContain("mine");
    expect((await on("shards", "mine")).stdout.trim().split("\n").length).toBeGreaterThan(4);
    expect((await on("show", "mine", "1")).stdout).toContain("Done");
    expect((await on("failures", "mine")).stdout).toContain("exit");
    expect((await on("workers", "mine")).code).toBe(0);
    expect((await on("events", "mine")).stdout).toContain("Complete");
    expect((await on("retry", "mine", "--exec", "true {}")).code).toBe(0);
    expect((await on("failures", "mine")).stdout).not.toContain("exit");
    expect(await on("doctor")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("the service gives the time"),
    });
    expect(await on("fsck")).toMatchObject({ code: 5, stderr: expect.stringContaining("on the service's machine") });
    expect((await on("store", "migrate")).stderr).toContain("migrates its own store");
    expect((await on("delete", "mine")).code).toBe(0);
    expect((await on("runs")).stdout).not.toContain("mine ");
    // The id of a deleted run is not used again: the same command starts the next one.
    expect((await on(...run, ...exec, "--overwrite")).code).toBe(3);
    expect(printed.join("")).not.toContain(token);
    const fromFile = await at(["runs", "--store", url, "--token-file", "token"]);
    expect(fromFile).toMatchObject({ code: 0, stdout: expect.stringContaining("mine") });
  });
});

test("parked shards are shown, split, parked and unparked through a service", async () => {
  await serving(["--store", "store"], { cwd: folder }, async (url) => {
    const on = (...argv: string[]): Promise<Said> => at([...argv, "--store", url]);
    const parking = ["--exec", "false", "--on-fail", "park", "--retries", "0", "--shards", "4", "--workers", "1"];
    expect((await on("run", "mine", "--source", "lines:rows", ...parking)).code).toBe(3);
    expect(await on("unpark", "--all")).toMatchObject(FINE);
    expect(await on("park", "mine", "1", "--reason", "Other")).toMatchObject(FINE);
    expect((await on("shards", "--status", "Parked")).stdout).toContain("Parked");
    expect(await on("unpark", "mine", "1")).toMatchObject(FINE);
    expect(await on("split", "mine", "2", "--parts", "2")).toMatchObject(FINE);
    expect(await on("cancel", "mine")).toMatchObject(FINE);
    // What was done through the service is in its store.
    const direct = await at(["runs", "--store", "store", "--json"]);
    expect(direct.stdout).toContain("Cancelled");
  });
});

describe("a service that refuses", () => {
  test("says what to do about a missing token, a missing role, and an address without a server", async () => {
    const token = await makeToken("read");
    await serving(["--store", "store", "--tokens", "tokens.json"], { cwd: folder }, async (url) => {
      const none = await at(["runs", "--store", url]);
      expect([none.code, none.stderr]).toEqual([7, expect.stringContaining("set GOSSIP_TOKEN") as string]);
      const run = ["run", "--source", "lines:rows", "--exec", "true", "--store", url];
      const reader = await at(run, { GOSSIP_TOKEN: token });
      expect([reader.code, reader.stderr]).toEqual([7, expect.stringContaining("role operate") as string]);
    });
    const gone = await at(["runs", "--store", "http://127.0.0.1:9"]);
    expect([gone.code, gone.stderr]).toEqual([7, expect.stringContaining("gossip serve") as string]);
  });

  test.each([
    [["runs", "--store", "http://db.internal:7711"], "without TLS"],
    [["runs", "--store", "https://me:secret@db.internal"], "takes no password"],
    [["runs", "--store", "https://db.internal?tls=no"], "unknown setting"],
    [["runs", "--store", "https:db"], "cannot be read"],
    [["runs", "--store", "https://db.internal", "--tso", "h:1"], "its own clock"],
    [["runs", "--store", "https://db.internal", "--token-file", "missing"], "ENOENT"],
    [["runs", "--store", "https://db.internal", "--token-file", "rows"], "holds no token"],
    [["runs", "--store", "https://db.internal", "--ca", "missing"], "ENOENT"],
    [["serve", "--store", "https://db.internal"], "names another service"],
  ])("%j is refused", async (argv, message) => {
    const said = await at(argv);
    expect([said.code, said.stderr]).toEqual([2, expect.stringContaining(message) as string]);
    expect(said.stderr).not.toContain("secret");
  });
});

test.skipIf(tlsSkipped())("over TLS, the authority and a client certificate come from files", async () => {
  const { ca, server, client } = makeCertificates(folder);
  const tls = ["--tls-cert", server.cert, "--tls-key", server.key, "--tls-client-ca", ca];
  await serving(["--store", "store", ...tls], { cwd: folder }, async (url) => {
    expect(url).toMatch(/^https:/);
    const untrusted = await at(["runs", "--store", url]);
    expect([untrusted.code, untrusted.stderr]).toEqual([7, expect.stringContaining("--ca FILE") as string]);
    const unknown = await at(["runs", "--store", url, "--ca", ca]);
    expect(unknown.code).toBe(7);
    const known = await at(["runs", "--store", `${url}?cert=${client.cert}&key=${client.key}`, "--ca", ca]);
    expect(known).toMatchObject({ code: 0 });
  });
});

test.skipIf(tlsSkipped())("SIGHUP reads the certificates again, and keeps the old ones if it cannot", async () => {
  mkdirSync(join(folder, "new"));
  const [first, second] = [makeCertificates(folder), makeCertificates(join(folder, "new"))];
  const tls = ["--tls-cert", first.server.cert, "--tls-key", first.server.key];
  const said = await serving(["--store", "store", ...tls], { cwd: folder }, async (url, send) => {
    const codeWith = async (ca: string): Promise<number> => (await at(["runs", "--store", url, "--ca", ca])).code;
    expect([await codeWith(first.ca), await codeWith(second.ca)]).toEqual([0, 7]);
    for (const spoil of [() => rmSync(first.server.key), () => writeFileSync(first.server.key, "half a ke")]) {
      spoil();
      send("SIGHUP");
      expect(await codeWith(first.ca)).toBe(0);
    }
    for (const name of ["cert", "key"] as const) copyFileSync(second.server[name], first.server[name]);
    send("SIGHUP");
    expect([await codeWith(first.ca), await codeWith(second.ca)]).toEqual([7, 0]);
  });
  expect(said.stdout).toContain("certificates cannot be used: the old ones stay");
  expect(said.stdout).toContain("certificates read again");
});

test("SIGHUP reads the tokens between nodes again", async () => {
  const [old, next] = ["x", "y"].map((letter) => `gspc_${letter.repeat(43)}`) as [string, string];
  writeFileSync(join(folder, "nodes.toml"), NODES);
  writeFileSync(join(folder, "nodes.token"), `${old}\n`);
  const cluster = ["--cluster", "nodes.toml", "--node", "a", "--cluster-token", "nodes.token"];
  const said = await serving(["--store", "store", ...cluster], { cwd: folder }, async (url, send) => {
    const statusWith = async (token: string): Promise<number> =>
      (await fetch(`${url}/cluster/v1/hello`, { method: "POST", headers: { authorization: `Bearer ${token}` } }))
        .status;
    expect([await statusWith(old), await statusWith(next)]).toEqual([200, 401]);
    writeFileSync(join(folder, "nodes.token"), `${next}\n`);
    send("SIGHUP");
    while ((await statusWith(next)) !== 200);
    expect(await statusWith(old)).toBe(401);
  });
  expect(said.stdout).toContain("cluster-tokens read again");
});

const NODES = `
  cluster.node = [{ name = "a", address = "127.0.0.1:7711" }]
  cluster.scope = [{ prefix = "t/", writer = "a" }]
`;
