// `pnpm api`: write the list of exports of every package.
import { writeFileSync } from "node:fs";
import { formatExports } from "./api-list.ts";
import { apiFile, exportsByPackage, readApiFile } from "./packages.ts";

for (const [name, exports] of exportsByPackage()) {
  const text = formatExports(exports);
  if (readApiFile(name) === text) continue;
  writeFileSync(apiFile(name), text);
  console.log(`wrote packages/${name}/api.txt`);
}
