// After a night, a user asks what failed, why, and who was working. The answers must be in the store, with or without
// --out, and name the items as the user knows them.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine } from "../commands/command-line.fixture.ts";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip } from "../processes/gossip-process.fixture.ts";
import { readResults } from "./results.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-failures-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 12 }, (_, index) => `${index}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

const at = (...args: string[]) => gossipLine(args, { cwd: folder });
const json = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const quick = ["--retries", "1", "--retry-delay", "0.01", "--workers", "1", "--shards", "1"];

test("failures are listed with their item, error, attempts and worker, and a second start says where to look", async () => {
  const args = [
    "run",
    "--source",
    "lines:rows",
    "--exec",
    "test {} -lt 9 || { echo no route >&2; echo try again >&2; false; }",
    ...quick,
  ];
  const first = await gossip(args, { cwd: folder });
  expect([first.code, first.stderr]).toEqual([3, expect.stringMatching(/`gossip failures [0-9a-f]{16}` lists what/)]);
  expect([(await at(...args)).code, (await at("failures")).stderr]).toEqual([
    3,
    expect.stringMatching(/^3 items failed: `gossip retry [0-9a-f]{16}` tries them again\.\n$/),
  ]);
  const listed = json((await at("failures", "--json")).stdout);
  expect(listed.map(({ item, attempts, reason, error }) => [item, attempts, reason, error])).toEqual(
    [18, 20, 23].map((offset) => [`row:0/${offset}`, 2, "ItemFailed", "exit status 1: no route | try again"]),
  );
  expect(listed[0]!["workerName"]).toMatch(new RegExp(`^${hostname()}:\\d+$`));
  expect((await at("failures")).stdout).toMatch(
    /^\d{4}-.*Z {2}row:0\/18 {2}exit status 1: no route \| try again {2}\(ItemFailed, 2 attempts, /,
  );
  expect((await at("events")).stdout).toMatch(/ shard 1 {2}Complete: 12 items, 3 of them failed\n/);
  expect(json((await at("events", "--json")).stdout)).toContainEqual(
    expect.objectContaining({ what: "Complete", items: 12, failed: 3, unreadable: 0 }),
  );
  expect((await at("status")).stdout).toMatch(/^failures 3: `gossip failures [0-9a-f]{16}` lists them$/m);
});

test("--max-failures ends a run that fails as a whole, and the same command goes on", async () => {
  const args = ["run", "--source", "lines:rows", "--exec", "test {} -lt 2", ...quick];
  const stopped = await at(...args, "--max-failures", "3");
  expect([stopped.code, stopped.stderr]).toEqual([
    3,
    expect.stringMatching(
      /4 items failed, more than --max-failures .* is not finished: `gossip failures [0-9a-f]{16}`/,
    ),
  ]);
  expect((await at(...args)).stderr).toMatch(/Done: 12 items.* 10 of them failed/);
  for (const limit of ["x", "101%", "-1"]) expect((await at(...args, `--max-failures=${limit}`)).code).toBe(2);
});

test("a parked shard tells the item and its error; a working process is named", async () => {
  const parked = ["--exec", "test {} -lt 3 || { echo boom >&2; exit 7; }", "--on-fail", "park", ...quick];
  expect((await at("run", "parked", "--source", "lines:rows", ...parked)).code).toBe(3);
  const detail = /row:0\/6: exit status 7: boom \(2 attempts, \d{4}-.*Z, .*:\d+\)/;
  expect((await at("show", "parked", "1")).stdout).toMatch(detail);
  expect((await at("status", "parked")).stdout).toMatch(detail);
  expect(json((await at("show", "parked", "1", "--json")).stdout)[0]!["parked"]).toMatchObject({
    item: "row:0/6",
    error: "exit status 7: boom",
    attempts: 2,
  });
  const working = await startGossip(
    [
      "run",
      "working",
      "--source",
      "lines:rows",
      "--exec",
      ": {}; sleep 1000",
      "--workers",
      "1",
      "--shards",
      "1",
      "--grace",
      "0",
      "--json",
    ],
    { cwd: folder },
  );
  expect(await working.heard(/"kind":"progress".*"held":1/)).toBe(true);
  const name = `${hostname()}:${working.child.pid}`;
  expect(json((await at("workers", "working", "--json")).stdout)).toMatchObject([{ name, pid: working.child.pid }]);
  expect((await at("workers", "working")).stdout).toContain(` ${working.child.pid} `);
  expect((await at("shards", "working")).stdout).toContain(name);
  expect((await at("show", "working", "1")).stdout).toMatch(new RegExp(`^held by +${name}, for another`, "m"));
  working.signal("SIGTERM");
  await working.ended;
  expect((await at("workers", "working")).stderr).toBe("No worker is registered with this run.\n");
});

test("retry processes only what failed, in a file of its own, and forgets what succeeds", async () => {
  const work = ["--exec", "test -e all || test {} -lt 6 && test {} -ne 11 && echo done {}", ...quick];
  const run = ["run", "mine", "--source", "lines:rows", ...work, "--out", "out.ndjson"];
  expect((await at(...run)).code).toBe(3);
  const before = readFileSync(join(folder, "out.ndjson"), "utf8");
  writeFileSync(join(folder, "all"), "");
  const retried = await gossip(["retry", "mine", "--workers", "2", "--retry-delay", "0.01"], { cwd: folder });
  expect([retried.code, retried.stderr]).toEqual([
    3,
    expect.stringMatching(/Done: 6 items, 1 of them failed(?:.*\n)*Run [0-9a-f]{16} still has 1 failure: /),
  ]);
  const results = json(readFileSync(join(folder, "out.ndjson.retry-1"), "utf8"));
  expect(results.map(({ line, ok }) => [line, ok])).toEqual([6, 7, 8, 9, 10, 11].map((n) => [String(n), n !== 11]));
  expect(readFileSync(join(folder, "out.ndjson"), "utf8")).toBe(before);
  expect(json((await at("failures", "mine", "--json")).stdout)).toMatchObject([{ item: "row:0/23" }]);
  expect((await at(...run)).code).toBe(3);

  // The retry is a run of its own, and not what is meant if no run is named.
  expect(json((await at("failures", "--json")).stdout)).toMatchObject([{ item: "row:0/23" }]);
  expect(json((await at("status", "--json")).stdout)).toMatchObject([{ name: "mine", failures: 1 }]);
  const [ofRetry, ofRun] = json((await at("runs", "--json")).stdout);
  expect([ofRetry, ofRun]).toMatchObject([{ failed: 1 }, { failed: 6, failures: 1 }]);
  expect((await at("failures", String(ofRetry!["run"]))).stderr).toBe(
    `1 item failed in this retry: \`gossip failures ${String(ofRun!["run"])}\` lists what still fails.\n`,
  );
  const fixed = await at("retry", "--exec", "echo fixed {}");
  expect([fixed.code, fixed.stderr]).toEqual([
    0,
    expect.stringMatching(/Run [0-9a-f]{16} has no failures any more\.\n$/),
  ]);
  expect(json(readFileSync(join(folder, "out.ndjson.retry-2"), "utf8"))).toMatchObject([{ line: "11", ok: true }]);
  const again = await at(...run);
  expect([again.code, again.stderr]).toEqual([
    0,
    expect.stringContaining("All of these succeeded when they were retried."),
  ]);
  expect((await at("runs")).stdout).toMatch(/ +12 +0 +\d+\/\d+ +0 +mine: /);
  expect((await at("retry", "mine")).stderr).toBe("Nothing to retry: the run has no failures.\n");
});

test("a retry goes on after kill -9, and no result is lost or there twice", async () => {
  const run = ["run", "mine", "--source", "lines:rows", "--exec", "false"];
  const flags = ["--retries", "0", "--workers", "1", "--shards", "1", "--lease", "3", "--out", "out.ndjson"];
  expect((await at(...run, ...flags)).code).toBe(3);
  const retry = [
    "retry",
    "mine",
    "--exec",
    `test -e go || { test {} -lt 4 || sleep 1000; }; echo {}`,
    ...flags.slice(0, 8),
  ];
  const killed = await startGossip([...retry, "--json"], { cwd: folder });
  expect(await killed.heard(/"kind":"progress".*"items":4.*"fraction":0\.33/)).toBe(true);
  // A retry that goes on is what status shows, and retry continues its run.
  expect(json((await at("status", "--json")).stdout)).toMatchObject([{ items: 4, status: "Active" }]);
  await killed.kill();
  writeFileSync(join(folder, "go"), "");
  const second = await gossip([retry[0]!, ...retry.slice(2)], { cwd: folder });
  expect([second.code, second.stderr]).toEqual([0, expect.stringMatching(/goes on: 4 items skipped/)]);
  const results = json(readFileSync(join(folder, "out.ndjson.retry-1"), "utf8"));
  expect(results.map(({ line }) => line)).toEqual(Array.from({ length: 12 }, (_, index) => String(index)));
});

test("a folder that could not be read is read by a retry", async () => {
  const isRoot = process.getuid?.() === 0;
  mkdirSync(join(folder, "data/closed"), { recursive: true });
  chmodSync(folder, 0o777);
  for (const name of ["a", "closed/b", "closed/c", "d"]) writeFileSync(join(folder, "data", name), name);
  chmodSync(join(folder, "data/closed"), isRoot ? 0o700 : 0);
  const as = { cwd: folder, ...(isRoot ? { uid: 65_534 } : {}) };
  const run = ["run", "mine", "--source", "fs:data", "--exec", "true", "--out", "out.ndjson"];
  expect((await gossip(run, as)).code).toBe(3);
  expect((await gossip(["failures", "--json"], as)).stdout).toMatch(/"item":"closed\/".*"reason":"Unreadable"/);
  chmodSync(join(folder, "data/closed"), 0o755);
  expect((await gossip(["retry"], as)).code).toBe(0);
  expect([...readResults(join(folder, "out.ndjson.retry-1")).keys()].map((path) => path.slice(-8))).toEqual([
    "closed/b",
    "closed/c",
  ]);
  expect((await gossip(run, as)).code).toBe(0);
});

test("what is still failing in a folder that could not be read is not forgotten by a retry, and only that is tried again", async () => {
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o777);
  mkdirSync(join(folder, "data/closed/inner"), { recursive: true });
  for (const name of ["a", "closed/b", "closed/c", "closed/inner/d", "closed/inner/e"])
    writeFileSync(join(folder, "data", name), name);
  const mode = (path: string, readable: boolean) =>
    chmodSync(join(folder, "data", path), readable ? 0o755 : isRoot ? 0o700 : 0);
  const as = { cwd: folder, ...(isRoot ? { uid: 65_534 } : {}) };
  const run = ["run", "mine", "--source", "fs:data", "--exec", "cat {}", "--out", "out.ndjson", ...quick];
  const failing = async () =>
    json((await gossip(["failures", "mine", "--json"], as)).stdout).map(({ item, reason }) => [item, reason]);
  const resultsOf = (number: number) => [...readResults(join(folder, `out.ndjson.retry-${number}`)).keys()];
  mode("closed", false);
  expect((await gossip(run, as)).code).toBe(3);
  expect(await failing()).toEqual([["closed/", "Unreadable"]]);

  mode("closed", true);
  mode("closed/c", false);
  mode("closed/inner", false);
  const first = await gossip(["retry", "mine", "--retries", "0"], as);
  expect([first.code, first.stderr]).toEqual([3, expect.stringMatching(/still has 2 failures: /)]);
  const left = [
    ["closed/c", "ItemFailed"],
    ["closed/inner/", "Unreadable"],
  ];
  expect(await failing()).toEqual(left);
  expect((await gossip(run, as)).code).toBe(3);
  expect(json((await gossip(["status", "mine", "--json"], as)).stdout)).toMatchObject([{ failures: 2 }]);

  mode("closed/c", true);
  const second = await gossip(["retry", "mine", "--retries", "0"], as);
  expect([second.code, second.stderr]).toEqual([3, expect.stringMatching(/still has 1 failure: /)]);
  expect(resultsOf(2).map((path) => path.slice(-8))).toEqual(["closed/c"]);
  expect(await failing()).toEqual(left.slice(1));

  mode("closed/inner", true);
  expect((await gossip(["retry", "mine", "--retries", "0"], as)).code).toBe(0);
  expect(resultsOf(3).map((path) => path.slice(-14))).toEqual(["closed/inner/d", "closed/inner/e"]);
  expect((await gossip(["failures", "mine"], as)).stderr).toBe("No items failed.\n");
  expect((await gossip(run, as)).code).toBe(0);
});

test("a file and a folder that are gone are no longer items, so a retry has nothing to do for them", async () => {
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o777);
  mkdirSync(join(folder, "data/closed"), { recursive: true });
  for (const name of ["a", "closed/b", "d"]) writeFileSync(join(folder, "data", name), name);
  chmodSync(join(folder, "data/closed"), isRoot ? 0o700 : 0);
  const as = { cwd: folder, ...(isRoot ? { uid: 65_534 } : {}) };
  const run = ["run", "mine", "--source", "fs:data", "--exec", "grep -q d {}", ...quick];
  expect((await gossip(run, as)).stderr).toContain("Done: 2 items, 1 of them failed, 1 could not be read");
  chmodSync(join(folder, "data/closed"), 0o755);
  for (const name of ["a", "closed"]) rmSync(join(folder, "data", name), { recursive: true });
  const retried = await gossip(["retry", "mine"], as);
  expect([retried.code, retried.stderr]).toEqual([0, expect.stringMatching(/Done: 0 items/)]);
  expect((await gossip(["failures", "mine"], as)).stderr).toBe("No items failed.\n");
});
