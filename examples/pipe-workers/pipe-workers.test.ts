// People copy these workers. Each must run as it stands, and be as short as its README says.
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gossipLine } from "../../packages/cli/src/commands/command-line.fixture.ts";

const WORKERS = [
  { file: "worker.py", command: "python3", needs: ["python3", "-c", "import json"] },
  { file: "batches.py", command: "python3", needs: ["python3", "-c", "import json"] },
  { file: "worker.pl", command: "perl", needs: ["perl", "-MJSON::PP", "-e", "1"] },
  { file: "worker.sh", command: "sh", needs: ["jq", "--version"] },
];
const words = ["ant", "bee\tbug", 'a "cat"', "dogs \\ cats", "", "Ünïcode"];

for (const { file, command, needs } of WORKERS) {
  const path = join(import.meta.dirname, file);
  const isThere = spawnSync(needs[0]!, needs.slice(1)).status === 0;
  if (!isThere) console.warn(`pipe-workers: ${file} skipped, because ${needs[0]} is not installed`);

  test(`${file} has about ten lines`, async () => {
    expect((await readFile(path, "utf8")).trimEnd().split("\n").length).toBeLessThanOrEqual(11);
  });

  test.skipIf(!isThere)(`${file} answers every line`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "gossip-pipe-workers-"));
    try {
      await writeFile(join(folder, "words"), words.map((word) => `${word}\n`).join(""));
      const pipe = ["--pipe", `${command} ${path}`, "--workers", "2", "--out", "out.ndjson"];
      const { code, stderr } = await gossipLine(["run", "--source", "lines:words", "--store", "store", ...pipe], {
        cwd: folder,
      });
      expect([code, stderr]).toEqual([0, expect.stringContaining("Done: 6 items")]);
      const lines = (await readFile(join(folder, "out.ndjson"), "utf8")).trimEnd().split("\n");
      const results = lines.map((line) => (JSON.parse(line) as { readonly result: string }).result);
      // jq knows only the letters of ASCII.
      expect(results.map((text) => text.toUpperCase())).toEqual(words.map((word) => word.toUpperCase()));
      expect(results[0]).toBe("ANT");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
