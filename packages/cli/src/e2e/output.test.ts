// What a command prints is its result. A pipe takes a few kilobytes at a time, a disk may be full, a reader may go away.
// A user who sees success but has half of the output finds out too late.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skippedFor } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { gossipScript, removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip } from "../processes/gossip-process.fixture.ts";

let folder: string;
afterAll(removeGossipScript);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-output-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: 60 }, (_, index) => `${index}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RUN = ["run", "--source", "lines:rows", "--workers", "2", "--lease", "2"];

test("a pipe gets all that is printed, however much more that is than it holds", async () => {
  const { code, stdout } = await gossip(["keys", "split", "hex:00", "hex:ff", "--parts", "10000", "--json"], {
    cwd: folder,
  });
  expect([code, stdout.trimEnd().split("\n").length]).toEqual([0, 9999]);
});

test("and so it is with what is said", async () => {
  writeFileSync(join(folder, "loud.mjs"), `export default () => { throw new Error("x".repeat(20000)); };`);
  const { code, stderr } = await gossip([...RUN, "--module", "loud.mjs", "--retries", "0"], { cwd: folder });
  expect([code, stderr.split("\n").filter((line) => line.startsWith("failed: ")).length]).toEqual([3, 20]);
  expect(stderr).toMatch(/\nDone: .*\n$/);
});

/** Its stdout is what it is given. */
async function withStdout(
  stdout: number,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, [await gossipScript(), ...args], {
    cwd: folder,
    stdio: ["ignore", stdout, "pipe"],
  });
  let stderr = "";
  child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr };
}

const MISSING = skippedFor(existsSync("/dev/full") ? undefined : "a full disk to print to, /dev/full, is not there");

describe.skipIf(MISSING !== undefined)("where it is written to is full", () => {
  let full: number;
  beforeEach(() => void (full = openSync("/dev/full", "w")));
  afterEach(() => closeSync(full));

  test.each([[["keys", "encode", "a"]], [["--help"]], [["keys", "encode", "a", "--json"]]])(
    "%j says so",
    async (args) => {
      const { code, stderr } = await withStdout(full, args);
      expect([code, stderr]).toEqual([
        9,
        expect.stringMatching(/(^gossip: |"kind":"OutputFailed".*)the output cannot be written \(ENOSPC\): .*\./),
      ]);
    },
  );

  test("the work stops, and goes on another time", async () => {
    const { code, stderr } = await withStdout(full, [...RUN, "--exec", "echo {}"]);
    expect([code, stderr]).toEqual([9, expect.stringContaining("the output cannot be written (ENOSPC)")]);
    const again = await gossip([...RUN, "--exec", "echo {}"], { cwd: folder });
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("Done: 60 items")]);
  });
});

describe("the reader goes away", () => {
  test("a list has served its purpose", async () => {
    const listing = await startGossip(["keys", "split", "hex:00", "hex:ff", "--parts", "10000", "--json"], {
      cwd: folder,
    });
    listing.child.stdout!.destroy();
    expect(await listing.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("work that prints its results is not reported as done, and continues with the next start", async () => {
    // Some are done at once; the others wait.
    const command = 'echo {}; echo >> begun; until [ -e go ] || ! [ "$(wc -l < begun)" -gt 5 ]; do sleep 0.05; done';
    const working = await startGossip([...RUN, "--exec", command], { cwd: folder });
    expect(await working.heard(/^\d/)).toBe(true);
    working.child.stdout!.destroy();
    writeFileSync(join(folder, "go"), "");
    expect(await working.ended).toMatchObject({ code: 9, signal: null });
  });

  test("work whose results go to a file is done without a reader", async () => {
    const working = await startGossip([...RUN, "--exec", "echo {}", "--out", "out.ndjson"], { cwd: folder });
    working.child.stderr!.destroy();
    expect(await working.ended).toMatchObject({ code: 0, signal: null });
    expect(readFileSync(join(folder, "out.ndjson"), "utf8").trim().split("\n").length).toBe(60);
  });
});
