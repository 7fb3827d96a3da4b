// Runs and type-checks every example: `node --import ./tools/ts/register.mjs tools/readme/main.ts [FILTER]`.
// The examples use the packages as built, so build first.
import { availableParallelism } from "node:os";
import type { Block } from "./blocks.ts";
import { Engines } from "./engines.ts";
import { formatFailure, type Failure } from "./failure.ts";
import { installFailures } from "./install-line.ts";
import { staticFailures, treatmentOf } from "./languages.ts";
import { notRunReason, staleEntries } from "./not-run.ts";
import { exampleBlocks, placeOf, unbuiltPackages } from "./pages.ts";
import { runShell } from "./run-shell.ts";
import { runSql } from "./run-sql.ts";
import { runTypeScript } from "./run-typescript.ts";
import { typeCheckBlocks } from "./type-check.ts";

const filter = process.argv[2] ?? "";
const all = exampleBlocks();
const blocks = all.filter((block) => block.file.includes(filter));
const unbuilt = unbuiltPackages();
if (unbuilt.length > 0) {
  console.error(`Not built: ${unbuilt.join(", ")}. Run \`pnpm build\` first.`);
  process.exit(1);
}

const engines = new Engines();
const programs = blocks.filter((block) => ["TypeScript", "Shell", "Sql"].includes(treatmentOf(block)));
const failures: Failure[] = [
  ...(filter === "" ? staleEntries(all) : []),
  ...blocks.flatMap(staticFailures),
  ...installFailures(blocks),
  ...typeCheckBlocks(programs.filter((block) => treatmentOf(block) === "TypeScript")),
];
const skipped: { readonly file: string; readonly reason: string }[] = [];
const waiting = [...programs];
try {
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
} finally {
  await engines.dispose();
}

failures.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
for (const [why, count] of countByReason()) console.log(`Not run: ${why}${count === 1 ? "" : ` (${count} blocks)`}`);
for (const failure of failures) console.error(formatFailure(failure));
console.log(`${programs.length - skipped.length} examples run, ${skipped.length} not run, ${failures.length} failures`);
if (blocks.length === 0) console.error("No example was found.");
process.exit(failures.length > 0 || blocks.length === 0 ? 1 : 0);

async function runWaiting(): Promise<void> {
  for (let block = waiting.shift(); block !== undefined; block = waiting.shift()) {
    const reason = notRunReason(block)?.reason ?? engines.missingFor(block);
    if (reason === undefined) failures.push(...(await run(block)));
    else skipped.push({ file: block.file, reason });
  }
}

async function run(block: Block): Promise<Failure[]> {
  if (treatmentOf(block) === "Sql") return runSql(block, engines);
  const { code, release } = await engines.prepare(block);
  try {
    const prepared = { ...block, code };
    return await (treatmentOf(block) === "Shell" ? runShell(prepared) : runTypeScript(prepared, placeOf(block)));
  } finally {
    release();
  }
}

function countByReason(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { file, reason } of skipped) counts.set(`${file}: ${reason}`, (counts.get(`${file}: ${reason}`) ?? 0) + 1);
  return counts;
}
