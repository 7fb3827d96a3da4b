// Processes share a folder and are killed at random, without warning and in the middle of whatever they do. What one of them was
// told must be true afterwards: this is the promise that the store makes, and the only way to see it kept is to kill.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { countLines, FAULT_SECONDS, judge, lacking, readFaultLogs, torment } from "@gossip/tools/fault-run";
import { afterAll, expect, test } from "vitest";
import { openLmdbStore } from "./open/open-lmdb-store.ts";
import { makeFolder } from "./temporary-store.fixture.ts";
import { processes } from "./worker-process.fixture.ts";

const WORKER = "./fault-worker.fixture.ts";
const LEAST = { kills: FAULT_SECONDS / 4, Checkpointed: 5 * FAULT_SECONDS, Completed: 1, Split: 1, Deleted: 1 };

afterAll(() => processes.remove());

test(
  `processes for ${FAULT_SECONDS} s, killed at random: nothing that was acknowledged is lost`,
  { timeout: (FAULT_SECONDS + 300) * 1000 },
  async () => {
    const folder = await makeFolder();
    try {
      const path = join(folder.path, "store");
      const logs = join(folder.path, "logs");
      await mkdir(logs);
      await processes.prepare(WORKER);
      const kills = await torment({
        logs,
        start: (worker) => processes.start(WORKER, { path, worker }),
        isEnough: (soFar) => lacking({ ...countLines(readFaultLogs(logs)), kills: soFar }, LEAST).length === 0,
      });

      const store = unwrap(await openLmdbStore({ path }));
      await store.swept();
      const { counts, broken } = await judge(store, readFaultLogs(logs));
      const report = unwrap(await fsck(store.inspect()));
      await store.close();
      console.log(`fault run: ${kills} kills`, counts, {
        runs: report.runCount,
        shards: report.shardCount,
        deletedRuns: report.deletedRunCount,
      });

      expect(broken).toEqual([]);
      expect(report.findings).toEqual([]);
      expect(lacking({ ...counts, kills }, LEAST)).toEqual([]);
    } finally {
      await folder.dispose();
    }
  },
);
