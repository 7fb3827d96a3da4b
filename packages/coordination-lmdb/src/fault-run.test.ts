// Processes share a folder and are killed at random, without warning and in the middle of whatever they do. What one of them was
// told must be true afterwards: this is the promise that the store makes, and the only way to see it kept is to kill.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { afterAll, expect, test } from "vitest";
import { readFaultLogs, type FaultWorkerConfig } from "./fault-log.fixture.ts";
import { judge } from "./fault-verdict.fixture.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { makeFolder } from "./temporary-store.fixture.ts";
import { removeBundles, startProcess, waitFor, type Ended } from "./worker-process.fixture.ts";

const SECONDS = Number(process.env["GOSSIP_FAULT_SECONDS"] ?? 8);
const PROCESSES = 4;
const SESSIONS = 6;
const ROOTS = 24;

afterAll(removeBundles);

test(`${PROCESSES} processes for ${SECONDS} s, killed at random: nothing that was acknowledged is lost`, { timeout: (SECONDS + 60) * 1000 }, async () => {
  const folder = await makeFolder();
  try {
    const path = join(folder.path, "store");
    const logs = join(folder.path, "logs");
    await mkdir(logs);
    const kills = await torment(path, logs);

    const store = unwrap(await openLmdbStore({ path }));
    await store.swept();
    const { counts, broken } = await judge(store, readFaultLogs(logs));
    const report = unwrap(await fsck(store.inspect()));
    await store.close();
    console.log(`fault run: ${kills} kills`, counts, { runs: report.runCount, shards: report.shardCount, deletedRuns: report.deletedRunCount });

    expect(broken).toEqual([]);
    expect(report.findings).toEqual([]);
    // Else it would have been a quiet afternoon.
    expect(kills).toBeGreaterThan(SECONDS / 2);
    expect(counts["Checkpointed"]).toBeGreaterThan(5 * SECONDS);
    expect(counts["Completed"]).toBeGreaterThan(0);
    expect(counts["Split"]).toBeGreaterThan(0);
    expect(counts["Deleted"]).toBeGreaterThan(0);
  } finally {
    await folder.dispose();
  }
});

/** Let processes work for a while, each until it is killed and another takes its place. How many were killed. */
async function torment(path: string, logs: string): Promise<number> {
  await startProcess("./fault-worker.fixture.ts", undefined).then(waitFor);
  const endsAt = performance.now() + SECONDS * 1000;
  let incarnation = 0;
  let kills = 0;
  const live = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const number = ++incarnation;
      const config: FaultWorkerConfig = { path, logPath: join(logs, String(number)), incarnation: number, sessions: SESSIONS, roots: ROOTS, durability: "Flushed" };
      const child = await startProcess("./fault-worker.fixture.ts", config);
      const ended = waitFor(child);
      // Some are killed before they have opened the folder.
      await Promise.race([sleep(Math.min(100 + Math.random() * 3500, endsAt - performance.now())), ended]);
      const isLast = performance.now() >= endsAt;
      if (isLast) child.kill("SIGTERM");
      else if (child.kill("SIGKILL")) kills++;
      expectKilled(await ended, isLast);
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, live));
  return kills;
}

/** A process that ended by itself has found something wrong, and says so. */
function expectKilled({ code, signal, errors }: Ended, isLast: boolean): void {
  const hasEnded = signal === "SIGKILL" || (isLast && (code === 0 || signal === "SIGTERM"));
  expect(hasEnded ? "" : `ended with ${code ?? signal}: ${errors}`).toBe("");
}
