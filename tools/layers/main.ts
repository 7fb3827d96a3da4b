// `pnpm layers`: write every file that follows from tools/layers/layers.json.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { derivedFiles } from "./derived-files.ts";
import { ROOT } from "./layers.ts";

const derived = derivedFiles();
for (const [path, text] of derived) writeFileSync(join(ROOT, path), text);
execFileSync(join(ROOT, "node_modules/.bin/oxfmt"), [...derived.keys()], { cwd: ROOT });
console.log(`wrote ${derived.size} files`);
