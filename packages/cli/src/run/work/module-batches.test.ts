// A module that gets its items in batches must have each result at its own item, and each failure on record.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine } from "../../commands/command-line.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-module-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 60 }, (_, n) => `${n}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(module: string) {
  writeFileSync(join(folder, "job.mjs"), module);
  const args = ["--source", "lines:rows", "--module", "./job.mjs", "--store", "store", "--out", "out.ndjson"];
  const said = await gossipLine(["run", ...args, "--shards", "2", "--workers", "1", "--retries", "0"], { cwd: folder });
  const rows = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
  return { ...said, rows: rows.map((row) => JSON.parse(row) as { readonly ok: boolean; readonly result?: number }) };
}

test("process.batch gets several items and returns an outcome for each; a batch that throws is cut", async () => {
  const { code, rows } = await run(`
    export default {
      process: {
        size: 8,
        batch: async (items) => {
          if (items.length > 8) throw new Error("too many");
          if (items.some(({ line }) => line === "33")) throw new Error("no 33");
          return items.map(({ line }) => (line === "5" ? { error: "no 5" } : { result: Number(line) }));
        },
      },
    };`);
  expect(code).toBe(3);
  expect(rows.map(({ ok, result }) => (ok ? result : "failed"))).toEqual(
    Array.from({ length: 60 }, (_, n) => (n === 5 || n === 33 ? "failed" : n)),
  );
});

test("a module can export process with batch, and return nothing", async () => {
  const { code, rows } = await run("export const process = { batch() {} };");
  expect([code, rows.length, rows[0]]).toEqual([0, 60, { offset: 0, line: "0", ok: true }]);
});

test("a batch that is no function is refused before anything starts", async () => {
  writeFileSync(join(folder, "out.ndjson"), "{}");
  const { code, stderr } = await run("export const process = { batch: 7 };");
  expect([code, stderr]).toEqual([2, expect.stringContaining("exports no function")]);
});
