// Memory must not grow with the number of items: the state is one cursor per shard.
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { assert } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";

const [FEW, MANY] = IS_SMOKE ? [500, 1000] : [100_000, 10_000_000];
const MOST_GROWTH = 1.5;
const LINES_A_WRITE = 10_000;

let folder: BenchFolder;
/** Resident sizes in bytes after the last row, by the number of rows. */
const sizes = new Map<number, number[]>([
  [FEW, []],
  [MANY, []],
]);

compare(`gossip run, ${FEW} rows and ${MANY}`, {
  async before() {
    folder = new BenchFolder();
    for (const rows of [FEW, MANY]) await writeRows(join(folder.path, `rows-${rows}`), rows);
    writeFileSync(
      join(folder.path, "noop.mjs"),
      'import { writeFileSync } from "node:fs"; process.once("exit", () => writeFileSync("size", String(process.memoryUsage.rss()))); export default function () {}\n',
    );
  },
  after() {
    folder.remove();
    const [few, many] = [medianOf(FEW), medianOf(MANY)];
    const growth = many / few;
    if (!IS_SMOKE)
      process.stdout.write(
        `  resident size: ${Math.round(few / 2 ** 20)} MiB at ${FEW} rows, ${Math.round(many / 2 ** 20)} MiB at ${MANY}: ${growth.toFixed(2)}x (at most ${MOST_GROWTH}x)\n`,
      );
    assert(
      growth <= MOST_GROWTH,
      () =>
        `resident size grows ${growth.toFixed(2)}-fold from ${FEW} rows to ${MANY}, and ${MOST_GROWTH}-fold is the limit`,
    );
  },
  forms: { few: () => sizeAfter(FEW), many: () => sizeAfter(MANY) },
  options: { rounds: 3, sampleMs: 1, warmMs: 1, measureHeap: false },
});

async function sizeAfter(rows: number): Promise<void> {
  await folder.gossip("--source", `lines:rows-${rows}`, "--module", "./noop.mjs");
  sizes.get(rows)!.push(Number(readFileSync(join(folder.path, "size"), "utf8")));
}

function medianOf(rows: number): number {
  const sorted = sizes.get(rows)!.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

async function writeRows(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  for (let from = 0; from < rows; from += LINES_A_WRITE) {
    const lines = Array.from(
      { length: Math.min(LINES_A_WRITE, rows - from) },
      (_, index) => `row ${from + index}\n`,
    ).join("");
    if (!file.write(lines)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
}
