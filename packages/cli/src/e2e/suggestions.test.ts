// Messages name the command that helps. Every one that these scenes print is run as it is printed, in a shell, and must
// be accepted: a store whose name needs quotes and several runs are what a suggestion gets wrong first.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gossipScript, removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, type Ended } from "../processes/gossip-process.fixture.ts";

const STORE = "my store";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gossip-suggestions-"));
  writeFileSync(join(folder, "rows"), "1\n2\n3\n4\n");
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/gossip"), `#!/bin/sh\nexec "${process.execPath}" "${await gossipScript()}" "$@"\n`);
  chmodSync(join(folder, "bin/gossip"), 0o755);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await removeGossipScript();
});

const at = (...args: string[]): Promise<Ended> => gossip([...args, "--store", STORE], { cwd: folder });
const parked = ["--exec", "false", "--on-fail", "park", "--retries", "0", "--shards", "2", "--workers", "1"];

/** Expects that the message suggests a command of this kind. Runs every command that it suggests. */
async function follow({ stdout, stderr }: Ended, command: string): Promise<void> {
  const suggested = [...`${stdout}${stderr}`.matchAll(/`(gossip [^`]*)`/g)].map(([, line]) => line!);
  expect(suggested.map((line) => line.split(" ")[1])).toContain(command);
  for (const line of suggested) {
    const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
    const ran = spawnSync("sh", ["-c", line], { cwd: folder, env: { ...process.env, PATH: path }, encoding: "utf8" });
    expect([line, ran.status, ran.stderr]).toEqual([line, 0, expect.any(String)]);
  }
}

test("commands in messages work as they are printed", async () => {
  const first = await at("run", "first", "--source", "lines:rows", ...parked);
  expect(first.code).toBe(3);
  await at("run", "second", "--source", "lines:rows", ...parked);
  // Shows the parked shards and unparks them.
  await follow(first, "unpark");
  await follow(await at("park", "first", "1"), "unpark");
  await at("park", "first", "2");
  await follow(await at("split", "first", "2"), "unpark");
  await follow(await at("show", "first", "77"), "shards");
  await follow(await at("status"), "runs");
  await follow(await at("status", "third"), "runs");
  await follow(await at("doctor"), "runs");
  await follow(await at("show"), "show");
  await follow(await at("delete", "first"), "cancel");
});

test("--run, which was an option, is explained with the command to write", async () => {
  const old = await at("show", "3", "--run", "it's");
  expect([old.code, old.stderr]).toEqual([
    2,
    "gossip: --run is no option: the run is the first argument, so write `gossip show 'it'\\''s' 3`.\n",
  ]);
});
