// A command for every file, compared with the usual tool: `xargs -P` with the same parallelism. Includes the store, the
// start of the process and the reading of the tree.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";

const FILES = IS_SMOKE ? 50 : 5000;
const FILES_A_FOLDER = 200;
const AT_A_TIME = "4";

let folder: BenchFolder;

compare(`a command for each of ${FILES} files, ${AT_A_TIME} at a time`, {
  before() {
    folder = new BenchFolder();
    for (let index = 0; index < FILES; index++) {
      const below = join(folder.path, "data", `d${Math.floor(index / FILES_A_FOLDER)}`);
      mkdirSync(below, { recursive: true });
      writeFileSync(join(below, `f${index}`), "x");
    }
  },
  after: () => folder.remove(),
  forms: {
    "gossip run --exec true": () => folder.gossip("--source", "fs:data", "--exec", "true", "--workers", AT_A_TIME),
    "xargs -P": () => folder.run("sh", ["-c", `find data -type f -print0 | xargs -0 -n 1 -P ${AT_A_TIME} true`]),
  },
  bounds: [{ form: "gossip run --exec true", ratioAtMost: 1.5, toBestOf: ["xargs -P"] }],
  options: { rounds: 5, sampleMs: 1, warmMs: 1, callsPerRun: FILES, measureHeap: false },
});
