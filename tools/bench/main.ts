// `pnpm bench [FILTER] [--record] [--smoke]`: every bench file in a process of its own.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { COMMAND_CONFIG, CONSOLE_CONFIG, PACKAGES, ROOT } from "../layers/layers.ts";
import { benchFiles } from "./bench-files.ts";
import { recordPerformance } from "./record.ts";
import type { BenchResult } from "./report.ts";

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

const outFolder = join(ROOT, ".cache/bench");
mkdirSync(outFolder, { recursive: true });
const missed: string[] = [];
const broken: string[] = [];
const results = new Map<string, BenchResult>();
build();
// What is measured runs alone. What is only tried out runs beside others.
if (values.smoke) await smokeAll();
else measureAll();
if (values.record) recordPerformance(results);

console.log(
  `\n${files.length} bench files${values.smoke ? " smoked" : ""}, ${missed.length} with a missed bound, ${broken.length} broken`,
);
for (const file of missed) console.log(`  bound missed: ${file}`);
for (const file of broken) console.log(`  broken: ${file}`);
process.exit(missed.length + broken.length > 0 ? 1 : 0);

function measureAll(): void {
  for (const file of files) {
    console.log(`\n=== ${file}`);
    const out = join(outFolder, `${file.replaceAll("/", "-")}.json`);
    const { status } = spawnSync(process.execPath, [...NODE_FLAGS, "tools/bench/run-file.ts", file, out], {
      cwd: ROOT,
      stdio: "inherit",
    });
    if (status === BOUND_MISSED) missed.push(file);
    else if (status !== 0) broken.push(file);
    if (status === 0 || status === BOUND_MISSED)
      results.set(file, JSON.parse(readFileSync(out, "utf8")) as BenchResult);
  }
}

async function smokeAll(): Promise<void> {
  const waiting = [...files];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const args = [...NODE_FLAGS, "tools/bench/run-file.ts", file, "", "--smoke"];
      const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
      const [status] = (await once(child, "close")) as [number | null];
      if (status !== 0) broken.push(file);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

/** Benches measure what a user installs, so they run against the built packages. */
function build(): void {
  const projects = PACKAGES.map((name) => `packages/${name}/tsconfig.build.json`);
  const steps = [
    ["tsc", "-b", ...projects],
    ["vite", "build", "--config", CONSOLE_CONFIG],
    ["vite", "build", "--config", COMMAND_CONFIG],
  ] as const;
  const isBuilt = steps.every(([command, ...args]) => {
    return spawnSync(command, args, { cwd: ROOT, stdio: "inherit" }).status === 0;
  });
  if (!isBuilt) {
    console.error("The build failed, so there is nothing to measure: run `pnpm build` to see why.");
    process.exit(1);
  }
}
