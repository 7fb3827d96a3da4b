// A pause is for the moment when a service is in trouble. It must reach every process of the run on every machine, and
// survive the death of all of them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

const LINES = 400;
const RUN = [
  "run",
  "nightly",
  "--source",
  "lines:rows",
  "--module",
  "./job.mjs",
  "--out",
  "out.ndjson",
  "--lease",
  "2",
];

let folder: string;
let running: GossipProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-pause-"));
  running = [];
  writeFileSync(join(folder, "rows"), Array.from({ length: LINES }, (_, index) => `${index}\n`).join(""));
  // Slow until told otherwise, so that the run lasts until it is paused. Each item leaves a mark.
  writeFileSync(
    join(folder, "job.mjs"),
    `import { appendFileSync, existsSync } from "node:fs";
     import { setTimeout as sleep } from "node:timers/promises";
     export default async ({ value }) => {
       appendFileSync("begun", ".");
       if (!existsSync("hurry")) await sleep(200);
     };`,
  );
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

async function start(): Promise<GossipProcess> {
  const started = await startGossip([...RUN, "--workers", "2"], { cwd: folder });
  running.push(started);
  return started;
}

const begunCount = (): number => readFileSync(join(folder, "begun"), "utf8").length;
const at = (...args: string[]) => gossip([...args, "--json"], { cwd: folder });
const only = async (...args: string[]) => JSON.parse((await at(...args)).stdout) as Record<string, unknown>;

test("two processes pause, one is killed, a third joins, and all is done once after it is resumed", async () => {
  const first = await start();
  await first.said(/^Run [0-9a-f]{16}: /m);
  const second = await start();
  await second.said(/^Run [0-9a-f]{16} goes on/m);
  expect((await at("pause", "nightly")).code).toBe(0);
  for (const each of [first, second]) await each.said(/the run is paused: items in progress finish/);

  // Nothing is held once the items in progress are stored, and from then on nothing begins.
  let status = await only("status");
  while ((status["shards"] as { readonly leased: number }).leased > 0) status = await only("status");
  const begun = begunCount();
  expect(status).toMatchObject({ status: "Active", paused: true });
  await first.kill();
  const third = await start();
  await third.said(/the run is paused/);
  expect(begunCount()).toBe(begun);
  expect(begun).toBeLessThan(LINES);

  writeFileSync(join(folder, "hurry"), "");
  expect(await only("resume", "nightly")).toMatchObject({ paused: false });
  for (const each of [second, third]) {
    const { code, stderr } = await each.ended;
    expect([code, stderr]).toEqual([0, expect.stringMatching(/the run is resumed, after /)]);
  }
  const results = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
  expect(new Set(results).size).toBe(LINES);
  // The process that was killed had nothing in progress, so nothing was done twice.
  expect(begunCount()).toBe(LINES);
});
