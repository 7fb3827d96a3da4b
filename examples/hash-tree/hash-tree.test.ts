// The example promises that nothing is lost or duplicated, whichever process is killed. People copy it, so it must be true.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleExample, ExampleProcess } from "../example-process.fixture.ts";

const FILE_COUNT = 600;

/** Several processes on a busy machine. It only ends what hangs. */

let bundle: Awaited<ReturnType<typeof bundleExample>>;
let folder: string;
let processes: ExampleProcess[];

beforeAll(async () => {
  bundle = await bundleExample(import.meta.dirname);
});
afterAll(() => bundle.remove());
beforeEach(() => {
  processes = [];
  folder = mkdtempSync(join(tmpdir(), "gossip-hash-tree-"));
  makeTree();
});
afterEach(async () => {
  for (const example of processes) await example.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function makeTree(): void {
  for (let index = 0; index < FILE_COUNT - 3; index++) {
    const below = join(folder, "tree", `d${index % 7}`, `e${index % 3}`);
    mkdirSync(below, { recursive: true });
    writeFileSync(join(below, `file-${index}`), `content ${index}`);
  }
  writeFileSync(join(folder, "tree", "empty"), "");
  writeFileSync(join(folder, "tree", "two\nlines"), "a name with a newline");
  writeFileSync(
    Buffer.concat([Buffer.from(join(folder, "tree", "not text ")), Buffer.of(0xff, 0xfe)]),
    "a name that is not UTF-8",
  );
  symlinkSync("empty", join(folder, "tree", "link"));
}

/** A plain pass over the tree, as lines of the output, in the order of the paths' bytes. */
function expectedLines(): string[] {
  const found: { readonly path: Buffer; readonly line: string }[] = [];
  const walk = (below: Buffer): void => {
    for (const entry of readdirSync(Buffer.concat([Buffer.from(`${folder}/tree/`), below]), {
      withFileTypes: true,
      encoding: "buffer",
    })) {
      const path = Buffer.concat([below, entry.name]);
      if (entry.isDirectory()) walk(Buffer.concat([path, Buffer.from("/")]));
      if (!entry.isFile()) continue;
      const sha256 = createHash("sha256")
        .update(readFileSync(Buffer.concat([Buffer.from(`${folder}/tree/`), path])))
        .digest("hex");
      const isText = Buffer.from(path.toString("utf8")).equals(path);
      found.push({
        path,
        line: JSON.stringify(
          isText ? { path: path.toString("utf8"), sha256 } : { pathHex: path.toString("hex"), sha256 },
        ),
      });
    }
  };
  walk(Buffer.alloc(0));
  return found.sort((a, b) => Buffer.compare(a.path, b.path)).map(({ line }) => line);
}

function linesOf(path: string): string[] {
  return readFileSync(join(folder, path), "utf8").trimEnd().split("\n");
}

function start(...more: string[]): ExampleProcess {
  const example = new ExampleProcess(bundle.script, { args: ["tree", ...more], cwd: folder });
  processes.push(example);
  return example;
}

async function pidOf(example: ExampleProcess, worker: string): Promise<number> {
  const [, pid] = await example.line(new RegExp(`^worker ${worker} is process (\\d+)$`));
  return Number(pid);
}

test("a worker is killed half-way, and every file has its line exactly once", async () => {
  // Slow enough for seconds of work to be left when the first progress is stored.
  const example = start("--slow", "100");
  const [, victim] = await example.line(/^worker (\d): stored/);
  process.kill(await pidOf(example, victim!), "SIGKILL");

  expect(await example.ended, example.text).toEqual({ code: 0, signal: null });
  expect(example.lines).toContain(`worker ${victim} was ended by SIGKILL; the others take over`);
  expect(linesOf("hashes.ndjson")).toEqual(expectedLines());
  expect(expectedLines()).toHaveLength(FILE_COUNT);
  expect(readdirSync(folder).sort()).toEqual(["hashes.ndjson", "tree"]);
});

test("every process is killed, and the same command does only the rest; the output lies in the tree and is not part of it", async () => {
  const expected = expectedLines();
  const out = ["--out", "tree/d3/hashes"];
  const first = start(...out, "--slow", "100");
  const [, stored] = await first.line(/: stored (\d+) files/);
  const workers = await Promise.all(["1", "2", "3"].map((worker) => pidOf(first, worker)));
  first.child.kill("SIGKILL");
  for (const pid of workers) process.kill(pid, "SIGKILL");
  await first.ended;
  expect(readdirSync(join(folder, "tree/d3"))).not.toContain("hashes");

  const second = start(...out);
  expect(await second.ended, second.text).toEqual({ code: 0, signal: null });
  expect(second.lines).toContain("the run was begun before: going on");
  const counts = [...second.text.matchAll(/^worker \d: (\d+) files, then Done$/gm)].map((match) => Number(match[1]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(FILE_COUNT - Number(stored));
  expect(linesOf("tree/d3/hashes")).toEqual(expected);
  expect(readdirSync(join(folder, "tree/d3")).sort()).toEqual(["e0", "e1", "e2", "hashes"]);
});

test("a folder that is not there is a sentence and an exit code", async () => {
  rmSync(join(folder, "tree"), { recursive: true });
  const example = start();
  expect(await example.ended).toEqual({ code: 1, signal: null });
  expect(example.text).toMatch(/^Cannot start: .*tree/);
});
