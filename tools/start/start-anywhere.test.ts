// `npm start` has to work on a machine that is not ours, or explain why it cannot: without a terminal, without sha256sum, as
// a user who is not root, from a path with spaces.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const BOOTSTRAP_FILES = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "tools/package.json",
  "tools/bootstrap.mjs",
];

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "gossip start "))));
afterEach(() => {
  chmodSync(folder, 0o755);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Run Node as a user who is not root, with pipes instead of a terminal, and with nothing on the path. */
async function runNode(args: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: join(folder, "no-programs"), HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { exitCode, output };
}

/** Root's own folders may be closed to others, and then another user cannot run this clone at all. */
function isReachable(): boolean {
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  return (
    spawnSync(process.execPath, ["-e", `require("fs").readdirSync(${JSON.stringify(ROOT)})`], identity).status === 0
  );
}

test.skipIf(!isReachable())(
  "the main job works without a terminal, sha256sum and root, with spaces in its paths",
  async () => {
    const tree = join(folder, "a tree");
    mkdirSync(tree);
    for (let file = 0; file < 30; file++) writeFileSync(join(tree, `file ${file}`), `file ${file}`);
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    if (isRoot) chownSync(scratch, NOBODY, NOBODY);
    const job = JSON.stringify({ tree, scratch, view: "inherit" });
    const script = `const { showMainJob } = await import(${JSON.stringify(join(import.meta.dirname, "main-job.ts"))});
    await showMainJob({ ...${job}, print: (line) => console.log(line) });`;
    chmodSync(folder, 0o755);

    const args = ["--import", join(ROOT, "tools/ts/register.mjs"), "--input-type=module", "-e", script];
    const { exitCode, output } = await runNode(args, folder);

    expect(output).toContain("30 files. In the results: 0 missing, 0 twice, 0 wrong, 0 not in the tree.");
    expect(output).toContain("--module");
    expect(output).not.toContain("\u001b");
    expect(exitCode).toBe(0);
  },
);

test("a clone that this user may not write to is explained in a sentence", async () => {
  for (const file of BOOTSTRAP_FILES) cpSync(join(ROOT, file), join(folder, file));
  chmodSync(folder, 0o555);
  const { exitCode, output } = await runNode(["tools/bootstrap.mjs", "tools/start/main.ts"], folder);
  expect(output).toMatch(/^This user may not write to .*gossip start .*: clone the repository as this user\.\n$/);
  expect(exitCode).toBe(1);
});

test("a Node that is too old is explained in a sentence", async () => {
  for (const file of BOOTSTRAP_FILES) cpSync(join(ROOT, file), join(folder, file));
  const asOld = 'Object.defineProperty(process.versions, "node", { value: "20.18.3" });';
  const args = ["--import", `data:text/javascript,${encodeURIComponent(asOld)}`, "tools/bootstrap.mjs"];
  chmodSync(folder, 0o755);
  const { exitCode, output } = await runNode(args, folder);
  expect(output).toBe("This is Node 20.18.3: install Node 20.19 or newer.\n");
  expect(exitCode).toBe(1);
});
