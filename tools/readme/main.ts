// Runs and type-checks every example: `node --import ./tools/ts/register.mjs tools/readme/main.ts [FILTER]`.
// The examples use the packages as built, so build first.
import { availableParallelism } from "node:os";
import type { Block } from "./blocks.ts";
import { Engines } from "./engines.ts";
import { formatFailure, type Failure } from "./failure.ts";
import { guidePages, isGuidePage } from "./guide-pages.ts";
import { installFailures } from "./install-line.ts";
import { staticFailures, treatmentOf } from "./languages.ts";
import { notRunReason, staleEntries } from "./not-run.ts";
import { exampleBlocks, placeOf, unbuiltPackages } from "./pages.ts";
import { runPage } from "./run-page.ts";
import { runShell } from "./run-shell.ts";
import { runSql } from "./run-sql.ts";
import { removeGossipScript } from "../../packages/cli/src/processes/gossip-bundle.fixture.ts";
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
// Pages of the guide first: each is one task, and takes longest.
const waiting: (() => Promise<void>)[] = [
  ...guidePages(blocks).map((page) => () => runGuidePage(page)),
  ...programs.filter(({ file }) => !isGuidePage(file)).map((block) => () => runBlock(block)),
];
try {
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
} finally {
  await engines.dispose();
  await removeGossipScript();
}

failures.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
for (const [why, count] of countByReason()) console.log(`Not run: ${why}${count === 1 ? "" : ` (${count} blocks)`}`);
for (const failure of failures) console.error(formatFailure(failure));
console.log(`${programs.length - skipped.length} examples run, ${skipped.length} not run, ${failures.length} failures`);
if (blocks.length === 0) console.error("No example was found.");
process.exit(failures.length > 0 || blocks.length === 0 ? 1 : 0);

async function runWaiting(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task();
}

/** Blocks of the page that are not run are counted one by one; the others need everything that the page uses. */
async function runGuidePage(page: readonly Block[]): Promise<void> {
  const missing = page.map((block) => engines.missingFor(block)).find((reason) => reason !== undefined);
  for (const block of page.filter((one) => programs.includes(one))) {
    const reason = notRunReason(block)?.reason ?? missing;
    if (reason !== undefined) skipped.push({ file: block.file, reason });
  }
  if (missing === undefined) failures.push(...(await runPage(page, engines)));
}

async function runBlock(block: Block): Promise<void> {
  const reason = notRunReason(block)?.reason ?? engines.missingFor(block);
  if (reason === undefined) failures.push(...(await run(block)));
  else skipped.push({ file: block.file, reason });
}

async function run(block: Block): Promise<Failure[]> {
  if (treatmentOf(block) === "Sql") return runSql(block, engines);
  const servers = await engines.open(block.code);
  try {
    const prepared = { ...block, code: servers.toReal(block.code) };
    const { env } = servers;
    return await (treatmentOf(block) === "Shell"
      ? runShell(prepared, { env })
      : runTypeScript(prepared, { ...placeOf(block), env }));
  } finally {
    servers.release();
  }
}

function countByReason(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { file, reason } of skipped) counts.set(`${file}: ${reason}`, (counts.get(`${file}: ${reason}`) ?? 0) + 1);
  return counts;
}
