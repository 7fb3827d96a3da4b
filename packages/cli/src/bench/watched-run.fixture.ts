// A run of the built command with the progress that it reports, next to what its work has really done.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "@gossip/stdx";
import { COMMAND } from "./bench-command.fixture.ts";

const WORKERS = 64;
/** A time left below this is shown as less than five seconds. */
const SHORT_MS = 5000;

interface Reported {
  readonly atMs: number;
  readonly fraction?: number;
  readonly remainingMs?: number;
}

/** How well the reported progress agreed with the truth, once a tenth of the work was done. */
export interface Agreement {
  readonly items: number;
  readonly samples: number;
  /** Of the samples, those with a fraction, and those with a time left. */
  readonly withFraction: number;
  readonly withTime: number;
  /** The largest difference between the fraction and the truth. */
  readonly worstFraction: number;
  /** The largest difference between the time left and the truth, as a share of the truth. */
  readonly worstTime: number;
  readonly decreases: number;
}

/** Run a source of so many items in about `seconds`, by work that only waits, and compare. */
export async function watchedRun(
  folder: string,
  { source, items, seconds }: { readonly source: string; readonly items: number; readonly seconds: number },
): Promise<Agreement> {
  const here = mkdtempSync(join(folder, "watched-"));
  const waitMs = Math.max(1, Math.round((seconds * 1000 * WORKERS) / items));
  writeFileSync(
    join(here, "wait.mjs"),
    `import { appendFileSync } from "node:fs";
    let done = 0;
    setInterval(() => appendFileSync("truth", Date.now() + " " + done + "\\n"), 100).unref();
    process.once("exit", () => appendFileSync("truth", Date.now() + " " + done + "\\n"));
    export default () => new Promise((resolve) => setTimeout(() => { done++; resolve(); }, ${waitMs}));\n`,
  );
  const args = ["run", "--store", "store", "--source", source, "--module", "./wait.mjs", "--workers", String(WORKERS)];
  const reported: Reported[] = [];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...args, "--json"], {
      cwd: here,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let rest = "";
    child.stdout.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const said = JSON.parse(line) as { readonly kind: string } & Reported;
        if (said.kind === "progress") reported.push({ ...said, atMs: Date.now() });
      }
    });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`gossip run ended with ${code}`))));
  });
  return agreement(reported, readTruth(join(here, "truth")));
}

interface Truth {
  readonly atMs: number;
  readonly done: number;
}

function readTruth(path: string): Truth[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [atMs, done] = line.split(" ").map(Number);
    return { atMs: atMs!, done: done! };
  });
}

function agreement(reported: readonly Reported[], truth: readonly Truth[]): Agreement {
  const items = truth.at(-1)!.done;
  const endMs = truth.find(({ done }) => done === items)!.atMs;
  let [samples, withFraction, withTime, worstFraction, worstTime, decreases, last] = [0, 0, 0, 0, 0, 0, 0];
  for (const { atMs, fraction, remainingMs } of reported) {
    if (fraction !== undefined && fraction < last) decreases++;
    last = fraction ?? last;
    const really = (truth.findLast((each) => each.atMs <= atMs)?.done ?? 0) / items;
    if (really < 0.1 || atMs >= endMs) continue;
    samples++;
    if (fraction !== undefined) {
      withFraction++;
      worstFraction = Math.max(worstFraction, Math.abs(fraction - really));
    }
    const left = endMs - atMs;
    if (remainingMs === undefined) continue;
    withTime++;
    if (remainingMs >= SHORT_MS || left >= SHORT_MS)
      worstTime = Math.max(worstTime, Math.abs(remainingMs - left) / left);
  }
  assert(samples > 0, "the run was over before its progress was reported");
  return { items, samples, withFraction, withTime, worstFraction, worstTime, decreases };
}
