// Processes hammer one database and are killed at random; meanwhile its server is killed and started again, and connections are cut
// between a write and its reply. Every result that a process got must still hold afterwards. That is the promise of a store, and the
// only way to test it is to break everything around it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import {
  countAnswers,
  countLines,
  FAULT_SECONDS,
  judge,
  lacking,
  readFaultLogs,
  torment,
} from "@gossip/tools/fault-run";
import { seededRandom } from "@gossip/tools/effort";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { afterAll, expect, test } from "vitest";
import { openPostgresStore } from "./open/open-postgres-store.ts";
import { processes } from "./worker-process.fixture.ts";

const WORKER = "./fault-worker.fixture.ts";
const LEAST = {
  kills: FAULT_SECONDS / 4,
  lostAnswers: 1,
  immediateShutdowns: 1,
  Checkpointed: FAULT_SECONDS,
  Deleted: 1,
};
const STEPS_BETWEEN_CRASHES = 16;
/** Results that workers must get between two crashes: a server that is always down proves nothing. */
const ANSWERS_BETWEEN = 100;

afterAll(() => processes.remove());

type Breakages = Record<"cuts" | "lostAnswers" | "serverKills" | "immediateShutdowns", number>;

interface Breaker {
  readonly logs: string;
  readonly made: Breakages;
  readonly isOver: () => boolean;
}

/** Cuts connections now, or at the next reply; and in turn kills the server and makes it shut down at once. */
async function breakThings(
  server: PostgresServer,
  proxy: CuttingProxy,
  { logs, made, isOver }: Breaker,
): Promise<void> {
  let crashedAt = 0;
  const random = seededRandom();
  for (let step = 1; !isOver(); step++) {
    await sleep(100 + random() * 300);
    const phase = step % STEPS_BETWEEN_CRASHES;
    if (phase === 0 || phase === STEPS_BETWEEN_CRASHES / 2) {
      while (!isOver() && countAnswers(logs) < crashedAt + ANSWERS_BETWEEN) await sleep(50);
      crashedAt = countAnswers(logs);
      await server.restart(phase === 0 ? undefined : "Immediate");
      if (phase === 0) made.serverKills++;
      else made.immediateShutdowns++;
    } else if (step % 3 === 0) {
      proxy.cutSome("Now", 4);
      made.cuts++;
    } else {
      proxy.cutSome("AtAnswer", 3);
      made.lostAnswers++;
    }
  }
}

test(
  `processes for ${FAULT_SECONDS} s, killed at random, with lost answers and a dying server: nothing that was acknowledged is lost`,
  { timeout: (FAULT_SECONDS + 300) * 1000 },
  async () => {
    const server = await startPostgres();
    const proxy = await CuttingProxy.before(server.url);
    const logs = await mkdtemp(join(tmpdir(), "gossip-fault-"));
    try {
      await processes.prepare(WORKER);
      const made: Breakages = { cuts: 0, lostAnswers: 0, serverKills: 0, immediateShutdowns: 0 };
      const kills = await torment({
        logs,
        start: (worker) => processes.start(WORKER, { url: proxy.url, worker }),
        alsoBreak: (isOver) => breakThings(server, proxy, { logs, made, isOver }),
        isEnough: (soFar) => lacking({ ...countLines(readFaultLogs(logs)), ...made, kills: soFar }, LEAST).length === 0,
      });
      await server.restart();

      await using store = unwrap(await openPostgresStore({ url: server.url }));
      const { counts, broken } = await judge(store, readFaultLogs(logs));
      const report = unwrap(await fsck(store.inspect()));
      console.log(`fault run: ${kills} kills`, made, counts, {
        runs: report.runCount,
        shards: report.shardCount,
        deletedRuns: report.deletedRunCount,
      });

      expect(broken).toEqual([]);
      expect(report.findings).toEqual([]);
      expect(lacking({ ...counts, ...made, kills }, LEAST)).toEqual([]);
    } finally {
      await proxy.close();
      await server.dispose();
      await rm(logs, { recursive: true });
    }
  },
);
