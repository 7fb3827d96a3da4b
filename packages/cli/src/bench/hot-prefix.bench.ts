// All items under one prefix, in one initial shard: idle workers must get part of it, or three of four do nothing. The
// work waits, like requests do, so that the number of processors does not matter.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";

const FILES = IS_SMOKE ? 8 : 800;
const WAIT_MS = IS_SMOKE ? 1 : 25;

let folder: BenchFolder;
const withWorkers = (workers: number) => (): Promise<void> =>
  folder.gossip("--source", "fs:data", "--module", "./wait.mjs", "--shards", "1", "--workers", String(workers));

compare(`${FILES} files of one folder, ${WAIT_MS} ms of waiting each`, {
  before() {
    folder = new BenchFolder();
    mkdirSync(join(folder.path, "data/hot/prefix"), { recursive: true });
    for (let index = 0; index < FILES; index++)
      writeFileSync(join(folder.path, "data/hot/prefix", `file-${index}`), "");
    writeFileSync(
      join(folder.path, "wait.mjs"),
      `export default () => new Promise((resolve) => setTimeout(resolve, ${WAIT_MS}));\n`,
    );
  },
  after: () => folder.remove(),
  forms: { "4 workers": withWorkers(4), "1 worker": withWorkers(1) },
  bounds: [{ form: "4 workers", ratioAtMost: 1 / 3.8, toBestOf: ["1 worker"] }],
  options: { rounds: 3, sampleMs: 1, warmMs: 1, callsPerRun: FILES, measureHeap: false },
});
