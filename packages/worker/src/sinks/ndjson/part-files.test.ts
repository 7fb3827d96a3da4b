// Several processes of one run end at the same time, and all of them remove its parts.
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PART_FILES } from "./part-files.ts";

test("a folder that others move to the same name meanwhile is removed without an error", async () => {
  const base = await mkdtemp(join(tmpdir(), "gossip-part-files-"));
  const doomed = join(base, "doomed");
  const removeAgainAndAgain = async (process: number): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) {
      const folder = join(base, `${process}-${turn}`);
      await mkdir(folder);
      await Promise.all([1, 2, 3, 4].map((part) => writeFile(join(folder, String(part)), "")));
      await rename(folder, doomed).catch(() => undefined);
      await PART_FILES.removeFolder(doomed);
      await PART_FILES.removeFolder(folder);
    }
  };
  try {
    await Promise.all([1, 2, 3, 4].map(removeAgainAndAgain));
    expect(await readdir(base)).toEqual([]);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
});
