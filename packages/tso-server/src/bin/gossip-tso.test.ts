// The program as a user runs it: it starts, serves, survives `kill -9`, refuses a folder that is in use, and ends when asked to.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { Bundle } from "../processes/bundle.fixture.ts";
import { BundledProcess } from "../processes/bundled-process.fixture.ts";

const PROGRAM = new URL("./gossip-tso.ts", import.meta.url);

let folder: string;
const closing: (() => unknown)[] = [];
let bundle: Bundle;
beforeAll(async () => {
  bundle = await Bundle.of(PROGRAM);
});
afterAll(() => bundle.dispose());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tso-bin-"));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await rm(folder, { recursive: true, force: true });
});

function run(...args: readonly string[]): BundledProcess {
  const started = new BundledProcess(bundle, args);
  closing.push(() => started.kill());
  return started;
}

const SERVE = ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"] as const;

async function ask(server: BundledProcess): Promise<bigint> {
  await server.line("serving");
  const client = unwrap(TimestampClient.create({ endpoints: [(await server.line("listening")).split(" ")[1]!] }));
  const timestamp = unwrap(await client.getTs());
  client.close();
  return timestamp;
}

describe("gossip-tso", () => {
  test("serves from a folder, alone, across a kill, and ends on SIGTERM", async () => {
    const first = run(...SERVE, "--data", folder, "--window-ahead", "60000", "--heartbeat", "1");
    const before = await ask(first);
    const http = (await first.line("http")).split(" ")[1]!;
    expect((await fetch(`http://${http}/readyz`)).status).toBe(200);
    const shown = (await (await fetch(`http://${http}/v1/timestamp`)).json()) as { timestamp: string };
    expect(BigInt(shown.timestamp)).toBeGreaterThan(before);
    // The next one: an earlier one may have come before it served.
    expect(await first.line("heartbeat", first.lines.length)).toMatch(
      /^heartbeat uptimeMs=\d+ isServing=true epoch=0 requests=\d+ issued=\d+/u,
    );

    const intruder = run(...SERVE, "--data", folder);
    expect((await intruder.exited).code).toBe(1);
    expect(intruder.stderr).toContain('"kind":"AlreadyLocked"');

    await first.kill();
    const second = run(...SERVE, "--data", folder);
    expect(await ask(second)).toBeGreaterThan(BigInt(shown.timestamp));
    second.signal("SIGTERM");
    expect(await second.exited).toEqual({ code: 0, signal: null });
  });

  test("reads its tokens again on SIGHUP, and keeps the old ones if it cannot", async () => {
    const [old, renewed] = ["gossip_tso_0123456789abcdef", "gossip_tso_fedcba9876543210"];
    const file = join(folder, "tokens");
    await writeFile(file, old);
    const server = run(...SERVE, "--data", join(folder, "state"), "--tokens", file);
    await server.line("serving");
    const http = (await server.line("http")).split(" ")[1]!;
    const statusFor = async (token: string): Promise<number> =>
      (await fetch(`http://${http}/v1/timestamp`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusFor(old), await statusFor(renewed)]).toEqual([200, 401]);
    await writeFile(file, renewed);
    server.signal("SIGHUP");
    await server.line("reloaded");
    expect([await statusFor(old), await statusFor(renewed)]).toEqual([401, 200]);
    await writeFile(file, "no token");
    server.signal("SIGHUP");
    expect(await server.line("not reloaded")).toContain("a line of --tokens is no token");
    expect(await statusFor(renewed)).toBe(200);
  });

  test("starts above the bound that init was given, and inits a folder once", async () => {
    const seedMs = 4_000_000_000_000;
    expect((await run("init", "--data", folder, "--seed-physical-ms", String(seedMs)).exited).code).toBe(0);
    const again = run("init", "--data", folder, "--seed-physical-ms", "5");
    expect([(await again.exited).code, again.stderr]).toEqual([1, expect.stringContaining("AlreadyInitialized")]);
    expect((await ask(run(...SERVE, "--data", folder))) >> 18n).toBe(BigInt(seedMs + 1));
  });

  test("refuses a folder whose state it cannot trust, and a command line it does not understand", async () => {
    await writeFile(join(folder, "state"), "rubbish");
    const [corrupt, wrong] = [run(...SERVE, "--data", folder), run("serve", "--dta", folder)];
    expect([(await corrupt.exited).code, corrupt.stderr]).toEqual([1, expect.stringContaining('"CorruptState"')]);
    expect([(await wrong.exited).code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("gossip-tso serve --data DIR"),
    ]);
  });
});
