// A run reads every line, so the cost per line is paid millions of times. For comparison: the simplest loop that splits
// a stream into lines, which can neither start in the middle nor report its offset.
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { linesSource } from "@gossip/worker";

const LINES = 500_000;
const folder = mkdtempSync(join(tmpdir(), "gossip-lines-bench-"));
const path = join(folder, "lines.txt");
writeFileSync(
  path,
  Array.from({ length: LINES }, (_, index) => `https://example.com/item/${index}/page?version=${index * 7}\n`).join(""),
);

const EVERYTHING = { start: new Uint8Array(0), end: new Uint8Array(0) };
const source = linesSource({ path });
const { signal } = new AbortController();

compare("lines of a file, 500,000 of 50 bytes", {
  forms: {
    linesSource: async () => {
      let count = 0;
      for await (const { items } of source.read({ range: EVERYTHING, signal })) count += items.length;
      return count;
    },
    "linesSource, with the text": async () => {
      let size = 0;
      for await (const { items } of source.read({ range: EVERYTHING, signal }))
        for (const { line } of items) size += line.length;
      return size;
    },
    "linesSource, with the key": async () => {
      let size = 0;
      for await (const { items } of source.read({ range: EVERYTHING, signal }))
        for (const { key } of items) size += key.length;
      return size;
    },
    "createReadStream and split": async () => {
      let count = 0;
      let rest = "";
      for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
        const lines = (rest + (chunk as string)).split("\n");
        rest = lines.pop()!;
        count += lines.length;
      }
      return count;
    },
  },
  bounds: [
    { form: "linesSource", perSecondAtLeast: 3_000_000 },
    { form: "linesSource, with the text", perSecondAtLeast: 1_000_000 },
    { form: "linesSource, with the key", perSecondAtLeast: 1_000_000 },
    { form: "linesSource", ratioAtMost: 1, toBestOf: ["createReadStream and split"] },
  ],
  options: { rounds: 15, sampleMs: 1, callsPerRun: LINES, measureHeap: false },
  after: () => rmSync(folder, { recursive: true, force: true }),
});
