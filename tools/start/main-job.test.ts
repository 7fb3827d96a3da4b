// `npm start` is the first thing a newcomer runs. It must end by itself, report that nothing was lost only if that is so,
// and leave nothing behind. All folders here have a space in their names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compareSums } from "./compare-sums.ts";
import { showMainJob } from "./main-job.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "gossip start "))));
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test("a worker is killed, and nothing is lost or left", async () => {
  const tree = makeTree(600);
  const scratch = join(folder, "scratch");
  const lines: string[] = [];
  // The second half of the files waits: the run is not over before the worker is killed.
  const [begun, gate] = [join(folder, "begun"), join(folder, "gate")];
  const command = `echo >> '${begun}'; until [ -e '${gate}' ] || ! [ "$(wc -l < '${begun}')" -gt 300 ]; do sleep 0.05; done; sha256sum {}`;
  const onVictimGone = (): void => writeFileSync(gate, "");

  const isProven = await showMainJob({
    tree,
    scratch,
    print: (line) => lines.push(line),
    view: "ignore",
    killAt: 0.1,
    work: ["--exec", command],
    onVictimGone,
  });

  const text = lines.join("\n");
  expect(text).toMatch(/in a browser while it runs: http:\/\/127\.0\.0\.1:\d+\/console\//);
  expect(text).toMatch(/One worker was killed when [\d,]+ files were done/);
  expect(text).toContain("600 files. In the results: 0 missing, 0 twice, 0 wrong, 0 not in the tree.");
  expect(isProven).toBe(true);
  expect(readdirSync(scratch)).toEqual([]);
});

test("stopped with Ctrl-C, it leaves nothing either", async () => {
  const [begun, scratch] = [join(folder, "begun"), join(folder, "scratch")];
  // Commands wait, and end with the test's folder.
  const job = {
    tree: makeTree(20),
    scratch,
    view: "ignore",
    work: ["--exec", `: {}; echo >> '${begun}'; while [ -e '${begun}' ]; do sleep 0.05; done`],
  };
  const script = `import { showMainJob } from ${JSON.stringify(join(import.meta.dirname, "main-job.ts"))};
    await showMainJob({ ...${JSON.stringify(job)}, print: () => {} });`;
  const child = spawn(
    process.execPath,
    ["--import", join(import.meta.dirname, "../ts/register.mjs"), "--input-type=module", "-e", script],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const ended = once(child, "exit");
  while (!existsSync(begun)) await setTimeout(20);
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  expect(readdirSync(scratch)).toEqual([]);
});

test("the comparison finds what is missing, doubled, wrong or strange", async () => {
  const tree = makeTree(4);
  const out = join(folder, "sums.ndjson");
  const line = (path: string, sum: string): string => `${JSON.stringify({ path, stdout: sum })}\n`;
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  writeFileSync(join(tree, "0", "empty"), "");
  const right = line(join(tree, "0", "empty"), empty);
  writeFileSync(out, right + right + line(join(tree, "0", "0"), empty) + line(join(tree, "no-such-file"), empty));

  expect(await compareSums({ tree, out })).toEqual({ files: 5, missing: 3, doubled: 1, wrong: 1, strange: 1 });
});

function makeTree(fileCount: number): string {
  const tree = join(folder, "tree");
  for (let file = 0; file < fileCount; file++) {
    const below = join(tree, String(Math.floor(file / 50)));
    mkdirSync(below, { recursive: true });
    writeFileSync(join(below, String(file % 50)), `file ${file}`);
  }
  return tree;
}
