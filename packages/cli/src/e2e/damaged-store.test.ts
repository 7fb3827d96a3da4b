// A bad disk must end in a sentence that says what to do. The engine would kill the command, or never return.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";

const PAGE_SIZE = 8192;
/** The kind of the rows that hold the records of shards. */
const SHARD_RECORD = 0x20;
/** The kind of the rows that hold notes, such as failures. */
const NOTE = 0x40;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-damaged-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

/** Makes a store of several pages. Returns the command that made it, and its file. */
async function storeManyShards(): Promise<{ readonly run: readonly string[]; readonly path: string }> {
  writeFileSync(join(folder, "rows"), "a\n".repeat(300));
  writeFileSync(join(folder, "job.mjs"), "export default async () => 1;\n");
  const run = ["run", "--source", "lines:rows", "--module", "job.mjs", "--shards", "300"];
  expect((await gossip(run, { cwd: folder })).code).toBe(0);
  return { run, path: join(folder, ".gossip", "data.mdb") };
}

test("a store whose pages are gone is damaged, for every command", async () => {
  writeFileSync(join(folder, "rows"), "a\nb\n");
  const run = ["run", "--source", "lines:rows", "--exec", "true"];
  expect((await gossip(run, { cwd: folder })).code).toBe(0);
  const path = join(folder, ".gossip", "data.mdb");
  writeFileSync(path, readFileSync(path).fill(0xee, 2 * PAGE_SIZE));

  const looks = await Promise.all([["status"], ["fsck"], run].map((args) => gossip(args, { cwd: folder })));
  for (const { code, stderr } of looks)
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/^gossip: .*the file of the store is damaged; .*backup.*\n$/),
    ]);
  expect(await gossip(["doctor"], { cwd: folder })).toMatchObject({
    code: 8,
    stdout: expect.stringContaining("the file of the store is damaged"),
  });
});

test.each([1, 10])("a store that lacks its last pages (%s) is reported", async (missing) => {
  const { run, path } = await storeManyShards();
  const file = readFileSync(path);
  writeFileSync(path, file.subarray(0, file.length - missing * PAGE_SIZE));

  for (const args of [["status"], run]) {
    const { code, stderr } = await gossip(args, { cwd: folder });
    // A page that is missing may also be a free one.
    if (code === 0) continue;
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/^gossip: .*(the store has \d+ bytes of \d+|the file of the store is damaged); .*\n$/),
    ]);
  }
});

test("a damaged gate is named by every command, and nothing is lost with it", async () => {
  await storeManyShards();
  const gate = join(folder, ".gossip", "gate");
  const path = join(gate, "commits", "data.mdb");
  writeFileSync(path, readFileSync(path).subarray(0, 5000));

  for (const args of [["status"], ["fsck"]])
    expect(await gossip(args, { cwd: folder })).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(
        /^gossip: .*the folder "gate" of the store, .* then remove that folder\.\n$/,
      ) as string,
    });
  rmSync(gate, { recursive: true });
  expect(await gossip(["fsck"], { cwd: folder })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("in order"),
  });
});

test("flipped bits that lead fsck back to where it was end it with a sentence", async () => {
  const { path } = await storeManyShards();
  const file = readFileSync(path);
  const separators = findSeparators(file);
  expect(separators).not.toEqual([]);
  // They now follow the records of all shards. Some are in pages that are not used any more.
  for (const at of separators) file[at] = SHARD_RECORD + 1;
  writeFileSync(path, file);

  for (const args of [["fsck"], ["fsck", "--repair"]])
    expect(await gossip(args, { cwd: folder })).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/^gossip: the store is too damaged to be checked \(.*backup.*\n$/) as string,
    });
});

test("fsck notices that a damaged page no longer shows recorded failures", async () => {
  writeFileSync(join(folder, "rows"), Array.from({ length: 40 }, (_, row) => `${row}\n`).join(""));
  writeFileSync(join(folder, "job.mjs"), "export default async () => { throw new Error('no'); };\n");
  const run = ["run", "--source", "lines:rows", "--module", "job.mjs", "--retries", "0"];
  expect((await gossip(run, { cwd: folder })).code).toBe(3);
  const path = join(folder, ".gossip", "data.mdb");
  const file = readFileSync(path);
  expect(hideNotes(file)).toBeGreaterThan(0);
  writeFileSync(path, file);

  expect((await gossip(["failures", "--json"], { cwd: folder })).stdout.trim().split("\n").length).toBeLessThan(40);
  expect(await gossip(["fsck"], { cwd: folder })).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/^gossip: .*the file of the store is damaged; .*\n$/) as string,
  });
});

/** Lets each page that ends with notes end after half of its rows. Returns how many pages there are. */
function hideNotes(file: Buffer): number {
  let pages = 0;
  for (let page = 2 * PAGE_SIZE; page < file.length; page += PAGE_SIZE) {
    const isLeaf = file.readBigUInt64LE(page) === BigInt(page / PAGE_SIZE) && file.readUInt16LE(page + 18) === 2;
    const lower = file.readUInt16LE(page + 20);
    const lastKey = page + 24 + file.readUInt16LE(page + 24 + lower - 2) + 8;
    if (!isLeaf || lower < 8 || file[lastKey] !== NOTE) continue;
    file.writeUInt16LE(2 * Math.floor(lower / 4), page + 20);
    pages++;
  }
  return pages;
}

/** Where keys begin that separate two pages with records of shards. */
function findSeparators(file: Buffer): number[] {
  const found: number[] = [];
  for (let page = 2 * PAGE_SIZE; page < file.length; page += PAGE_SIZE) {
    const isBranch = file.readBigUInt64LE(page) === BigInt(page / PAGE_SIZE) && file.readUInt16LE(page + 18) === 1;
    // The first key of a page is not used.
    for (let at = 2; isBranch && at < file.readUInt16LE(page + 20); at += 2) {
      const key = page + 24 + file.readUInt16LE(page + 24 + at) + 8;
      if (file[key] === SHARD_RECORD) found.push(key);
    }
  }
  return found;
}
