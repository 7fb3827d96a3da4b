// For comparison: how long the system takes to list the same folders, without sorting and without a way to continue.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { fileTreeSource } from "@gossip/worker";

const FOLDERS = 60;
const FILES = 100;
const root = mkdtempSync(join(tmpdir(), "gossip-tree-bench-"));
for (let folder = 0; folder < FOLDERS; folder++) {
  mkdirSync(join(root, `folder-${folder}`));
  for (let file = 0; file < FILES; file++) writeFileSync(join(root, `folder-${folder}`, `some-file-${file}.txt`), "");
}

const EVERYTHING = { start: new Uint8Array(0), end: new Uint8Array(0) };
const source = fileTreeSource({ root });
const { signal } = new AbortController();

async function listPlainly(folder: string): Promise<number> {
  let count = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    count += entry.isDirectory() ? await listPlainly(join(folder, entry.name)) : 1;
  }
  return count;
}

compare("files of a tree, 60 folders of 100", {
  forms: {
    fileTreeSource: async () => {
      let count = 0;
      for await (const { items } of source.read({ range: EVERYTHING, signal })) count += items.length;
      return count;
    },
    "readdir, folder by folder": () => listPlainly(root),
  },
  bounds: [{ form: "fileTreeSource", ratioAtMost: 4, toBestOf: ["readdir, folder by folder"] }],
  options: { rounds: 15, sampleMs: 1, callsPerRun: FOLDERS * FILES, measureHeap: false },
  after: () => rmSync(root, { recursive: true, force: true }),
});
