// The overhead of the command: a function that does nothing, for every line of a manifest, on the embedded store.
// Includes the start of the process, as users experience it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";

const ROWS = IS_SMOKE ? 2000 : 1_000_000;

let folder: BenchFolder;

compare(`gossip run, a function that does nothing, ${ROWS} rows`, {
  before() {
    folder = new BenchFolder();
    writeFileSync(join(folder.path, "rows"), Array.from({ length: ROWS }, (_, index) => `row ${index}\n`).join(""));
    writeFileSync(join(folder.path, "noop.mjs"), "export default function () {}\n");
  },
  after: () => folder.remove(),
  forms: { "gossip run --module": () => folder.gossip("--source", "lines:rows", "--module", "./noop.mjs") },
  bounds: [{ form: "gossip run --module", perSecondAtLeast: 100_000 }],
  options: { rounds: 5, sampleMs: 1, warmMs: 1, callsPerRun: ROWS, measureHeap: false },
});
