// Runs and type-checks every example: `node --import ./tools/ts/register.mjs tools/readme/main.ts [FILTER]`.
// The examples use the packages as built, so build first.
import { availableParallelism } from "node:os";
import { formatFailure, type Failure } from "./failure.ts";
import { exampleBlocks, placeOf, unbuiltPackages } from "./pages.ts";
import { runBlock } from "./run-block.ts";
import { typeCheckBlocks } from "./type-check.ts";

const filter = process.argv[2] ?? "";
const blocks = exampleBlocks().filter((block) => block.file.includes(filter));
const unbuilt = unbuiltPackages();
if (unbuilt.length > 0) {
  console.error(`Not built: ${unbuilt.join(", ")}. Run \`pnpm build\` first.`);
  process.exit(1);
}

const failures: Failure[] = typeCheckBlocks(blocks);
const waiting = [...blocks];
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
failures.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
for (const failure of failures) console.error(formatFailure(failure));
console.log(`${blocks.length} examples, ${failures.length} failures`);
if (blocks.length === 0) console.error("No example was found.");
process.exit(failures.length > 0 || blocks.length === 0 ? 1 : 0);

async function runWaiting(): Promise<void> {
  for (let block = waiting.shift(); block !== undefined; block = waiting.shift())
    failures.push(...(await runBlock(block, placeOf(block))));
}
