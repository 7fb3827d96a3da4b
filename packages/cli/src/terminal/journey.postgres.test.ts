// An hour of a user, in seconds: start, Ctrl-C, resume, an outage of the store, failures, retry, done. Each step has a test
// of its own elsewhere. What only this test sees is whether the screen leads from one step to the next.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skippedFor, startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { Terminal, terminalMissing } from "./terminal.fixture.ts";

const ROWS = 60;
const CTRL_C = "\u0003";
const MISSING = skippedFor(terminalMissing());

/** Items hold after the first few until the file `go` is there. Two of them fail until the file `fixed` is there. */
const COMMAND = [
  "echo x >> begun",
  'until [ -e go ] || ! [ "$(wc -l < begun)" -gt 12 ]; do sleep 0.05; done',
  "test -e fixed || case {} in 7|57) echo no route to host >&2; exit 4;; esac",
  "echo {}",
].join("; ");

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gossip-journey-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: ROWS }, (_, index) => `${index}\n`).join(""));
  server = await startPostgres({ settings: { fsync: "off" } });
});
afterAll(async () => {
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
  await removeGossipScript();
});

const type = (...args: string[]): Promise<Terminal> =>
  Terminal.run(args, { cwd: folder, columns: 100, env: { GOSSIP_STORE: server.url } });
const work = ["--workers", "2", "--shards", "4", "--lease", "2", "--retries", "0"];
const run = (): Promise<Terminal> =>
  type("run", "nightly", "--source", "lines:rows", "--exec", COMMAND, "--out", "out.ndjson", ...work);
const letGo = (): void => writeFileSync(join(folder, "go"), "");
const linesOf = (file: string): { line: string; ok: boolean }[] =>
  readFileSync(join(folder, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { line: string; ok: boolean });

describe.skipIf(MISSING !== undefined)("an hour of a user", () => {
  test("start, Ctrl-C, resume, an outage, failures, retry, done", async () => {
    const first = await run();
    await first.shows(/Run [0-9a-f]{16}: lines:.*\n(?:.*\n)*.* [1-9]\d* items/);
    first.type(CTRL_C);
    await first.shows(/Stopping: .* Ctrl-C again stops at once\./);
    letGo();
    expect(await first.ended).toBe(130);
    expect(first.lines.join("\n")).toMatch(/Stopped: \d+ items? done so far; the same command goes on from here\./);

    rmSync(join(folder, "go"));
    const second = await run();
    await second.shows(/goes on: \d+ items skipped, done before/);
    await second.shows(/2 in work/);
    await server.kill();
    await second.shows(/the store has not responded since \d\d:\d\d:\d\d UTC \(.*\); the work waits for it/);
    await server.restart();
    letGo();
    expect(await second.ended).toBe(3);
    const screen = second.lines.join("\n");
    expect(screen).toContain("failed: 57 (exit status 4)\n  no route to host");
    expect(screen.replaceAll("\n", "")).toMatch(
      /Done: 60 items, \d+ of them done before, 2 of them failed, .*`gossip failures ([0-9a-f]{16})` lists what failed, `gossip retry \1` tries it again\.$/,
    );

    const failures = await type("failures", "nightly");
    expect(await failures.ended).toBe(0);
    expect(failures.lines.join("").match(/exit status 4/g)).toHaveLength(2);

    writeFileSync(join(folder, "fixed"), "");
    const retry = await type("retry", "nightly", "--workers", "2");
    expect(await retry.ended).toBe(0);
    expect(retry.lines.join("\n")).toMatch(/Done: 2 items(?:.*\n)*.*has no failures any more\./);
    const done = await run();
    expect(await done.ended).toBe(0);
    expect(done.lines.join("")).toContain("All of these succeeded when they were retried.");

    const results = linesOf("out.ndjson");
    expect(results.map(({ line }) => line)).toEqual(Array.from({ length: ROWS }, (_, index) => String(index)));
    expect(linesOf("out.ndjson.retry-1")).toMatchObject([
      { line: "7", ok: true },
      { line: "57", ok: true },
    ]);
  });
});
