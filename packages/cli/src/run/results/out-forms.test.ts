// `--out` names a file, a folder or something compressed by its ending. A retry next to it must have the same form, and
// what another run wrote must not be replaced unasked.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine } from "../../commands/command-line.fixture.ts";
import { retryPath } from "./out-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-out-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 50 }, (_, n) => `${n}\n`).join(""));
  writeFileSync(join(folder, "job.mjs"), "export default ({ line }) => { if (line === '7') throw new Error('no'); };");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const args = ["run", "--source", "lines:rows", "--module", "./job.mjs", "--store", "store", "--retries", "0"];
const run = (...more: string[]) => gossipLine([...args, ...more], { cwd: folder });
const linesIn = (text: string): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly line: string }).line);
const ALL = Array.from({ length: 50 }, (_, n) => String(n));

test("a compressed file is what the plain one would be, is checked, and is retried compressed", async () => {
  expect((await run("--out", "out.ndjson.gz")).code).toBe(3);
  const path = join(folder, "out.ndjson.gz");
  expect(linesIn(gunzipSync(readFileSync(path)).toString())).toEqual(ALL);
  expect((await run("--out", "out.ndjson.gz")).stderr).toContain("Done before");
  writeFileSync(join(folder, "job.mjs"), "export default () => 1;");
  // The same module is not loaded twice by one process.
  const retried = await gossipLine(["retry", "--store", "store", "--exec", "true"], { cwd: folder });
  expect(retried.code).toBe(0);
  expect(linesIn(gunzipSync(readFileSync(join(folder, "out.ndjson.retry-1.gz"))).toString())).toEqual(["7"]);
  writeFileSync(path, readFileSync(path).subarray(0, 40));
  expect((await run("--out", "out.ndjson.gz")).stderr).toContain("are not those that were written");
});

test("a folder has parts of at most the size given, and is not replaced unasked", async () => {
  expect((await run("--out", "out/", "--part-size", "500")).code).toBe(3);
  const parts = readdirSync(join(folder, "out"));
  expect(parts[0]).toBe("part-00001.ndjson");
  const texts = parts.map((name) => readFileSync(join(folder, "out", name), "utf8"));
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(500);
  expect([parts.length > 2, linesIn(texts.join(""))]).toEqual([true, ALL]);
  expect((await run("other", "--out", "out/")).stderr).toContain("give --overwrite");
  expect((await run("other", "--out", "out/", "--overwrite")).code).toBe(3);
  expect(readdirSync(join(folder, "out"))).toEqual(["part-00001.ndjson"]);
});

test("parts of a folder whose name ends in .gz are compressed", async () => {
  await run("--out", "out.gz/");
  expect(readdirSync(join(folder, "out.gz"))).toEqual(["part-00001.ndjson.gz"]);
  expect(linesIn(gunzipSync(readFileSync(join(folder, "out.gz", "part-00001.ndjson.gz"))).toString())).toEqual(ALL);
});

test("a file where a folder should be is an error, and the other way round", async () => {
  writeFileSync(join(folder, "file"), "");
  expect((await run("--out", "file/")).stderr).toContain("is not a folder: leave out the slash");
  mkdirSync(join(folder, "target"));
  symlinkSync("target", join(folder, "link"));
  const link = await run("--out", "link/");
  expect([link.code, link.stderr]).toEqual([
    9,
    expect.stringMatching(/^gossip: .*link\/ of --out is a link: name the/),
  ]);
  expect((await run("--out", "store/../")).code).not.toBe(0);
  rmSync(join(folder, "file"));
  expect((await run("--out", ".")).stderr).toContain("put a slash behind the folder");
});

test.each([
  ["out.ndjson", "out.ndjson.retry-2"],
  ["out.ndjson.gz", "out.ndjson.retry-2.gz"],
  ["out/", "out.retry-2/"],
  ["out.gz/", "out.retry-2.gz/"],
])("the retry of %s goes to %s", (out, retry) => {
  expect(retryPath(out, 2)).toBe(retry);
});
