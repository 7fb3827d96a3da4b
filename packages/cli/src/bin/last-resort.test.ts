// A script looks at the exit code. One that is not documented, such as Node's 13 for a promise that never settles, does not help it,
// and what Node prints by itself may hold a password.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, type Ended } from "../processes/gossip-process.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-last-resort-"));
  writeFileSync(join(folder, "rows"), "one\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

function runModule(code: string): Promise<Ended> {
  writeFileSync(join(folder, "job.mjs"), code);
  return gossip(["run", "--source", "lines:rows", "--module", "job.mjs"], { cwd: folder });
}

test("a promise that never settles ends in a sentence and a documented code", async () => {
  const { code, stderr } = await runModule("await new Promise(() => {}); export default () => {};");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^gossip: the command awaits a promise that never settles: .+\.\n$/),
  ]);
});

test.each([
  ["an error", "new Error('postgres://me:hunter2@h')"],
  ["no error", "'postgres://me:hunter2@h'"],
])("%s that is thrown outside of any call is reported without its words", async (_what, thrown) => {
  const { code, stderr } = await runModule(
    `export default () => new Promise(() => { setTimeout(() => { throw ${thrown}; }); });`,
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining("this is a defect of gossip")]);
  expect(stderr).not.toMatch(/hunter2|^\s+at /m);
});

test("an unhandled rejection is reported the same way", async () => {
  const { code, stderr } = await runModule(
    "export default () => new Promise(() => { void Promise.reject(new TypeError('hunter2')); });",
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining("(TypeError)")]);
  expect(stderr).not.toContain("hunter2");
});
