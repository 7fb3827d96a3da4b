// A user tries a command on a few files before a million: the rehearsal must touch nothing, the parts must be exactly those
// that were asked for, and results of another run must survive a slip of the hand.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, afterEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, type Ended } from "../processes/gossip-process.fixture.ts";
import { readResults } from "./results.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-part-"));
  for (const path of ["src", "build"]) mkdirSync(join(folder, "data", path), { recursive: true });
  for (const path of ["a b.c", "b.h", "src/c.c", "src/d.c", "build/e.c"])
    writeFileSync(join(folder, "data", path), path);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

const run = (...args: string[]): Promise<Ended> => gossip(["run", "--source", "fs:data", ...args], { cwd: folder });
const done = (out: string): string[] =>
  [...readResults(join(folder, out)).keys()].map((path) => path.slice(join(folder, "data/").length));

test("--dry-run prints the commands as a shell takes them, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await run("--exec", "wc -c", "--limit", "2", "--out", "out.ndjson", "--dry-run");
  expect([code, stdout]).toEqual([0, `wc -c '${folder}/data/a b.c'\nwc -c ${folder}/data/b.h\n`]);
  expect(stderr).toMatch(/^Dry run, nothing is started: \d shards? of fs:.*data --limit 2 through wc -c\. The first/);
  const module = await run("--module", "job.mjs", "--include", "*.h", "--dry-run", "--json");
  const [plan, item] = module.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect([module.code, plan, item]).toMatchObject([
    0,
    { kind: "plan", selection: { include: ["*.h"] } },
    { kind: "item", path: join(folder, "data/b.h") },
  ]);
  expect(readdirSync(folder)).toEqual(["data"]);
  expect((await run("--exec", "true;", "--dry-run")).code).toBe(2);
  const secret = await run("--exec", "curl -u me:hunter2 -H 'Authorization: Bearer hunter2' {}", "--dry-run");
  expect([secret.code, secret.stdout]).toEqual([
    0,
    expect.stringMatching(/^curl -u me:… -H 'Authorization: …' '.*a b.c'$/m),
  ]);
  expect(`${secret.stdout}${secret.stderr}`).not.toContain("hunter2");
});

test("--include, --exclude and --limit choose part of a tree, and make it another run", async () => {
  const globs = ["--include", "*.c", "--exclude", "build/", "--exec", "true"];
  expect((await run(...globs, "--out", "c.ndjson")).stderr).toMatch(/Done: 3 items/);
  expect(done("c.ndjson")).toEqual(["a b.c", "src/c.c", "src/d.c"]);
  expect((await run(...globs, "--limit", "2", "--out", "two.ndjson")).stderr).toMatch(/Done: 2 items/);
  expect(done("two.ndjson")).toEqual(["a b.c", "src/c.c"]);
  const status = await gossip(["runs", "--json"], { cwd: folder });
  expect(status.stdout.trim().split("\n")).toHaveLength(2);
  const lines = await gossip(["run", "--source", "lines:data/b.h", ...globs], { cwd: folder });
  expect([lines.code, lines.stderr]).toEqual([2, "gossip: --include is for fs: only: leave it out.\n"]);
});

test("the results of another run are replaced only with --overwrite", async () => {
  expect((await run("--exec", "true", "--out", "out.ndjson")).code).toBe(0);
  const before = readFileSync(join(folder, "out.ndjson"), "utf8");
  const refused = await run("--exec", "wc -c", "--out", "out.ndjson");
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringMatching(
      /out\.ndjson exists, and another run or program wrote it: .* give --overwrite to replace it\.\n$/,
    ),
  ]);
  expect(readFileSync(join(folder, "out.ndjson"), "utf8")).toBe(before);
  expect((await run("--exec", "wc -c", "--out", "out.ndjson", "--overwrite")).code).toBe(0);
  expect(readResults(join(folder, "out.ndjson")).size).toBe(5);
  expect(readFileSync(join(folder, "out.ndjson"), "utf8")).not.toBe(before);
});
