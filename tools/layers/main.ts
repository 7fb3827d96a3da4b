// `pnpm layers`: write every file that follows from tools/layers/layers.json.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { derivedFiles } from "./derived-files.ts";
import { ROOT } from "./layers.ts";

for (const [path, text] of derivedFiles()) {
  const file = join(ROOT, path);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  console.log(`wrote ${path}`);
}
