// Logs of many workers end up in one place. A line without its time and worker is of no use there, and one that is not
// JSON among lines of JSON breaks the reader.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, LOG_HEAD } from "../processes/gossip-process.fixture.ts";
import { silentCli } from "../reference/cli-page.fixture.ts";
import { LogView } from "./log-view.ts";
import { Log, type LogFormat, type LogLevel } from "./log.ts";
import { workerLogger } from "./worker-log.ts";

function logged(format: LogFormat, level: LogLevel, use: (log: Log) => void): string[] {
  const lines: string[] = [];
  const now = (): Date => new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  use(new Log({ level, format, worker: "00000000000000a1", now, write: (line) => void lines.push(line) }));
  return lines;
}

describe("Log", () => {
  test("a line has a time, a level, the worker and the message, without credentials", () => {
    const use = (log: Log): void => log.line("warn", "lost postgres://me:hunter2@db/x", { shard: 5n });
    expect(logged("text", "info", use)).toEqual([
      "2026-01-02T03:04:05.006Z warn  00000000000000a1 lost postgres://me:…@db/x\n",
    ]);
    expect(logged("json", "info", use).map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        time: "2026-01-02T03:04:05.006Z",
        level: "warn",
        worker: "00000000000000a1",
        message: "lost postgres://me:…@db/x",
        shard: "0000000000000005",
      },
    ]);
  });

  test("lines of a lower level are left out", () => {
    const count = (level: LogLevel): number =>
      logged("text", level, (log) => {
        for (const each of ["debug", "info", "warn", "error"] as const) log.line(each, "x");
      }).length;
    expect((["debug", "info", "warn", "error"] as const).map(count)).toEqual([4, 3, 2, 1]);
  });

  test("events of the runtime are lines, except those that the command reports itself", () => {
    const lines = logged("text", "debug", (log) => {
      const logger = workerLogger(log);
      logger.debug({ event: "ShardClaimed", shard: "1", isResumed: false }, "claimed a shard");
      logger.warn({ event: "LeaseLost", shard: "1" }, "lost a shard");
    });
    expect(lines).toEqual([
      "2026-01-02T03:04:05.006Z debug 00000000000000a1 claimed a shard shard=1 isResumed=false\n",
    ]);
  });
});

test("messages that a user should act on are warnings", () => {
  const lines = logged("text", "warn", (log) => {
    const view = new LogView(silentCli().console, log);
    for (const kind of ["clockSkew", "unavailable", "lost", "note"]) view.say(kind, { kind });
  });
  expect(lines.map((line) => line.trimEnd().split(" ").at(-1))).toEqual(["clockSkew", "unavailable", "lost"]);
});

describe("gossip run", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gossip-log-"));
    writeFileSync(join(folder, "rows"), "one\ntwo\nthree\n");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  afterAll(removeGossipScript);

  const run = (...args: readonly string[]) =>
    gossip(["run", "--source", "lines:rows", "--exec", "echo oops >&2; test {} != two", "--retries", "0", ...args], {
      cwd: folder,
    });

  test("every line of a log in JSON is an object with time, level and worker, also an error", async () => {
    const { code, log } = await run("--log-format", "json", "--log-level", "debug");
    expect(code).toBe(3);
    const lines = log
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(new Set(lines.map(({ worker }) => worker)).size).toBe(1);
    expect(lines.every(({ time, level, message }) => !Number.isNaN(Date.parse(time!)) && level && message)).toBe(true);
    expect(lines.map(({ message }) => message).join("\n")).toMatch(
      /^Run [0-9a-f]{16}: [^]*claimed a shard[^]*failed: two[^]*Done: 3 items/,
    );
    const refused = await run("--log-format", "json", "--store", "etcd://127.0.0.1:1", "--patience", "0");
    expect(JSON.parse(refused.log) as object).toMatchObject({ level: "error", kind: "StoreUnreachable", exitCode: 7 });
  });

  test("where stderr is no terminal, every line of the command has its time and worker", async () => {
    const { log, stderr } = await run();
    const own = log
      .trimEnd()
      .split("\n")
      .filter((line) => line !== "oops");
    expect(own.filter((line) => line.replace(LOG_HEAD, "") === line)).toEqual([]);
    expect(stderr).toMatch(/^Run [0-9a-f]{16}: /);
    expect(log).not.toMatch(/^\s+at /m);
  });

  test("a level leaves out what is below it, and an unknown one is a usage error", async () => {
    const { stderr } = await run("--log-level", "warn");
    expect(stderr).toMatch(/^(?:oops\n)*failed: two .*\n(?:oops\n)*$/);
    expect((await run("--log-level", "loud")).code).toBe(2);
  });
});
