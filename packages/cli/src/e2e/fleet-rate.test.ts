// The simulation of a fleet has one clock and no other programs on its machine. So real processes keep a rate here, too:
// they start and end at different times, and each leaves the moment at which it was called.

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { effort, isExploring } from "@gossip/tools/effort";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

const FLEETS = effort({ usual: [2], exploring: [1, 4, 16] });
const PER_SECOND = effort({ usual: 40, exploring: 100 });
const SECONDS = effort({ usual: 3, exploring: 30 });

let folder: string;
let running: GossipProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-fleet-rate-"));
  running = [];
  const rows = Array.from({ length: PER_SECOND * SECONDS }, (_, index) => `${index}\n`);
  writeFileSync(join(folder, "rows"), rows.join(""));
  writeFileSync(
    join(folder, "job.mjs"),
    `import { appendFileSync } from "node:fs";
     export default async () => appendFileSync("calls", Date.now() + "\\n");`,
  );
  appendFileSync(join(folder, "calls"), "");
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

const callTimes = (): number[] =>
  readFileSync(join(folder, "calls"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)
    .sort((a, b) => a - b);

/** By how many calls any span of time exceeded the rate. */
function excess(calls: readonly number[]): number {
  let [least, most] = [Infinity, 0];
  for (const [index, ms] of calls.entries()) {
    const ahead = index - (PER_SECOND * (ms - calls[0]!)) / 1000;
    least = Math.min(least, ahead);
    most = Math.max(most, ahead + 1 - least);
  }
  return most;
}

test.each(FLEETS)("%d processes keep the rate of their run together", { timeout: 300_000 }, async (count) => {
  const args = ["run", "slow", "--source", "lines:rows", "--module", "./job.mjs", "--workers", "4"];
  for (let n = 0; n < count; n++) {
    running.push(await startGossip([...args, "--rate", `${PER_SECOND}/s`], { cwd: folder }));
    if (n === 0) await running[0]!.said(/^Run [0-9a-f]{16}: /m);
  }
  expect((await gossip(["status", "--json"], { cwd: folder })).stdout).toContain(`"itemsPerSecond":${PER_SECOND}`);
  for (const each of running) expect((await each.ended).code).toBe(0);

  const calls = callTimes();
  expect(calls.length).toBe(PER_SECOND * SECONDS);
  expect(excess(calls)).toBeLessThanOrEqual(PER_SECOND + 1);
  if (!isExploring) return;
  // From the moment when all have started. The last shards end when they end.
  const [from, to] = [calls[0]! + 5000, calls.at(-1)! - 3000];
  const perSecond = (1000 * calls.filter((ms) => ms >= from && ms < to).length) / (to - from);
  process.stdout.write(`${count} processes: ${perSecond.toFixed(1)} of ${PER_SECOND} items a second\n`);
  // More processes than that do not get the processor in time to start what they may.
  if (count <= 2 * availableParallelism()) expect(Math.abs(perSecond / PER_SECOND - 1)).toBeLessThanOrEqual(0.05);
});
