// Fails where a `Result` is dropped: `node --import ./tools/ts/register.mjs tools/must-use/main.ts`.
import { checkSources } from "./check-sources.ts";

const { fileCount, unresolved, dropped } = checkSources();
for (const { file, line, text } of dropped)
  console.error(`${file}:${line}: this Result is dropped; use it, or write \`void\` before it to say so: ${text}`);
for (const problem of unresolved) console.error(problem);
if (fileCount === 0) console.error("No source file was found.");
console.log(`${fileCount} files, ${dropped.length} dropped Results`);
process.exit(dropped.length > 0 || unresolved.length > 0 || fileCount === 0 ? 1 : 0);
