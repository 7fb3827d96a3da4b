// A long-lived process for all items, compared with a command for each: an echo of every line. Both run in this process,
// without the start of Node, and include the store, the source and the results.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { gossipLine } from "../commands/command-line.fixture.ts";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";

const LINES = IS_SMOKE ? 200 : 100_000;
const WORKERS = "4";

let folder: BenchFolder;
let python: string;

const exampleOf = (file: string): string =>
  `'${python}' '${fileURLToPath(new URL(`../../../../examples/pipe-workers/${file}`, import.meta.url))}'`;

async function echo(...work: string[]): Promise<void> {
  const cwd = folder.path;
  const place = mkdtempSync(join(cwd, "run-"));
  const files = ["--store", join(place, "store"), "--out", join(place, "out.ndjson")];
  const { code, stderr } = await gossipLine(
    ["run", "--source", "lines:lines", "--workers", WORKERS, ...files, ...work],
    { cwd },
  );
  assert(code === 0, () => `it ended with ${code}: ${stderr}`);
}

compare(`an echo of ${LINES} lines, ${WORKERS} at a time`, {
  before() {
    folder = new BenchFolder();
    // The interpreter itself: what is first in the path may be a script that takes longer to find it than it runs.
    python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
    writeFileSync(join(folder.path, "lines"), Array.from({ length: LINES }, (_, n) => `line ${n}\n`).join(""));
  },
  after: () => folder.remove(),
  forms: {
    "--pipe, in batches": () => echo("--pipe", exampleOf("batches.py")),
    "--pipe, line by line": () => echo("--pipe", exampleOf("worker.py")),
    "--exec echo": () => echo("--exec", "echo {}"),
  },
  bounds: [
    { form: "--pipe, in batches", ratioAtMost: 0.05, toBestOf: ["--exec echo"] },
    { form: "--pipe, line by line", ratioAtMost: 0.1, toBestOf: ["--exec echo"] },
  ],
  options: { rounds: 3, sampleMs: 1, warmMs: 1, callsPerRun: LINES, measureHeap: false },
});
