// An operator looks at a run while it works: `gossip status` in another terminal opens the folder that the run and its
// keeper thread have open. This once froze the run for good. Here other processes look, join the work and are killed
// while they write, and the run must still reach its end.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { effort, seededRandom } from "@gossip/tools/effort";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

const ROUNDS = effort({ usual: 3, exploring: 300 });
const LINES = effort({ usual: 4000, exploring: 200_000 });
const LOOKS = [["status"], ["shards"], ["fsck"], ["doctor"], ["runs"]];
const RUN = ["run", "--source", "lines:rows", "--module", "./job.mjs", "--out", "out.ndjson", "--lease", "2", "--json"];
const BUSY_OR_FAILED = /^.* (has kept this process busy for \d+ s\.|failed.*)\n/gm;
const HAS_WORKED = /"kind":"progress".*"held":[1-9]/;

interface Failure {
  readonly key: string;
  readonly reason: string;
}

let folder: string;
let running: GossipProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-shared-folder-"));
  running = [];
  writeFileSync(join(folder, "rows"), Array.from({ length: LINES }, (_, index) => `${index}\n`).join(""));
  // Slower and slower, so that it lasts until all have looked, however long they take; then quick.
  writeFileSync(
    join(folder, "job.mjs"),
    `import { existsSync } from "node:fs";
     import { setTimeout as sleep } from "node:timers/promises";
     let isHurried = false;
     let seen = 0;
     export default async () => {
       isHurried ||= existsSync("hurry");
       if (!isHurried) await sleep(8 * 2 ** (seen++ / ${LINES / 10}));
     };`,
  );
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

async function startRun(): Promise<GossipProcess> {
  const started = await startGossip(RUN, { cwd: folder });
  running.push(started);
  return started;
}

test(
  "a run with a keeper thread goes on while others look, work and are killed, and nothing is lost",
  { timeout: 60_000 + ROUNDS * 10_000 },
  async () => {
    const random = seededRandom(14);
    const run = await startRun();
    expect(await run.heard(HAS_WORKED)).toBe(true);
    for (let round = 0; round < ROUNDS; round++) {
      const joined = await startRun();
      const looks = [round, round + 1 + Math.floor(random() * (LOOKS.length - 1))].map(
        (at) => LOOKS[at % LOOKS.length]!,
      );
      const seen = await Promise.all(looks.map((args) => gossip(args, { cwd: folder })));
      for (const { code, stderr } of seen) expect([code, stderr]).toEqual([0, ""]);
      expect(await joined.heard(HAS_WORKED)).toBe(true);
      await joined.kill();
      expect(run.isRunning).toBe(true);
    }
    writeFileSync(join(folder, "hurry"), "");
    const { code, stdout, stderr } = await run.ended;
    const listed = await gossip(["failures", "--json"], { cwd: folder });
    const failures = listed.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Failure]));
    // A worker that is killed while it runs a suspected item alone makes that item look guilty (decision 0032).
    expect(failures.filter(({ reason }) => reason !== "Crashed")).toEqual([]);
    // A busy machine may stop a process for longer than the lease, which the run reports.
    expect([code, stderr.replaceAll(BUSY_OR_FAILED, "")]).toEqual([failures.length > 0 ? 3 : 0, ""]);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({ kind: "finished", items: LINES });
    const results = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
    const offsets = new Set(results.map((line) => (JSON.parse(line) as { readonly offset: number }).offset));
    const failed = new Set(failures.map(({ key }) => key));
    expect([results.length, offsets.size + failed.size]).toEqual([LINES - failures.length, LINES]);
    expect(await gossip(["fsck"], { cwd: folder })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("in order"),
    });
  },
);
