// Checks the results without any code of ours: walks the tree, hashes every file, and looks each up.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface SumsReport {
  readonly files: number;
  readonly missing: number;
  readonly doubled: number;
  readonly wrong: number;
  /** Results for what the tree does not have. */
  readonly strange: number;
}

export async function compareSums({ tree, out }: { readonly tree: string; readonly out: string }): Promise<SumsReport> {
  const { sums, doubled } = await readSums(out);
  const report = { files: 0, missing: 0, doubled, wrong: 0, strange: 0 };
  for await (const path of filesBelow(tree)) {
    report.files++;
    const sum = sums.get(path);
    sums.delete(path);
    if (sum === undefined) report.missing++;
    else if (
      sum !==
      createHash("sha256")
        .update(await readFile(path))
        .digest("hex")
    )
      report.wrong++;
  }
  report.strange = sums.size;
  return report;
}

async function readSums(out: string): Promise<{ readonly sums: Map<string, string>; readonly doubled: number }> {
  const sums = new Map<string, string>();
  let doubled = 0;
  for await (const line of createInterface({ input: createReadStream(out) })) {
    // A command prints its result, a module returns it.
    const { path, stdout, result } = JSON.parse(line) as {
      readonly path: string;
      readonly stdout?: string;
      readonly result?: string;
    };
    if (sums.has(path)) doubled++;
    sums.set(path, (stdout ?? result ?? "").slice(0, 64));
  }
  return { sums, doubled };
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}
