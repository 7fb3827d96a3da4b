// A bad disk must end in a sentence that says what to do. The engine would kill the command, or never return.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";

const PAGE_SIZE = 4096;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-damaged-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

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
