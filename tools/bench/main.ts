// `pnpm bench [FILTER] [--record] [--smoke]`: every bench file in a process of its own.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../layers/layers.ts";
import { benchFiles } from "./bench-files.ts";
import { recordPerformance } from "./record.ts";
import type { StoredComparison } from "./report.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { record: { type: "boolean", default: false }, smoke: { type: "boolean", default: false } },
});

// Young garbage must not be collected in the middle of a heap measurement.
const NODE_FLAGS = [
  "--expose-gc",
  "--max-semi-space-size=128",
  "--min-semi-space-size=128",
  "--import",
  "./tools/ts/register.mjs",
];
const BOUND_MISSED = 3;

const files = benchFiles().filter((file) => positionals.every((filter) => file.includes(filter)));
if (files.length === 0) {
  console.error(`No bench file has "${positionals.join(" ")}" in its path.`);
  process.exit(1);
}

build();
const outFolder = join(ROOT, ".cache/bench");
mkdirSync(outFolder, { recursive: true });
const missed: string[] = [];
const broken: string[] = [];
const results = new Map<string, StoredComparison[]>();
for (const file of files) {
  if (!values.smoke) console.log(`\n=== ${file}`);
  const out = join(outFolder, `${file.replaceAll("/", "-")}.json`);
  const run = spawnSync(
    process.execPath,
    [...NODE_FLAGS, "tools/bench/run-file.ts", file, out, ...(values.smoke ? ["--smoke"] : [])],
    { cwd: ROOT, stdio: "inherit" },
  );
  if (run.status === BOUND_MISSED) missed.push(file);
  else if (run.status !== 0) broken.push(file);
  if (!values.smoke && (run.status === 0 || run.status === BOUND_MISSED))
    results.set(file, JSON.parse(readFileSync(out, "utf8")) as StoredComparison[]);
}
if (values.record) recordPerformance(results);

console.log(
  `\n${files.length} bench files${values.smoke ? " smoked" : ""}, ${missed.length} with a missed bound, ${broken.length} broken`,
);
for (const file of missed) console.log(`  bound missed: ${file}`);
for (const file of broken) console.log(`  broken: ${file}`);
process.exit(missed.length + broken.length > 0 ? 1 : 0);

/** Benches measure what a user installs, so they run against the built packages. */
function build(): void {
  const built = spawnSync("turbo", ["run", "build", "--output-logs=errors-only"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (built.status !== 0) {
    console.error("The build failed, so there is nothing to measure: run `pnpm build` to see why.");
    process.exit(1);
  }
}
