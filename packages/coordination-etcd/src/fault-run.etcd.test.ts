// Processes hammer one etcd and are killed at random; meanwhile its server is killed and started again, and connections
// are cut between a write and its answer. Every result that a process got must hold afterwards. That is the promise of
// a store, and the only way to test it is to break everything around it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { countLines, FAULT_SECONDS, judge, lacking, readFaultLogs, torment } from "@gossip/tools/fault-run";
import { seededRandom } from "@gossip/tools/effort";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { afterAll, expect, test } from "vitest";
import { openEtcdStore } from "./open/open-etcd-store.ts";
import { processes } from "./worker-process.fixture.ts";

const WORKER = "./fault-worker.fixture.ts";
const LEAST = {
  kills: FAULT_SECONDS / 4,
  lostAnswers: 1,
  serverKills: 1,
  Checkpointed: 5 * FAULT_SECONDS,
  Completed: 1,
  Split: 1,
  Deleted: 1,
};
const STEPS_BETWEEN_CRASHES = 9;

const skipped = etcdSkipped();
afterAll(() => processes.remove());

type Breakages = Record<"cuts" | "lostAnswers" | "serverKills", number>;

/** Cut connections now, or when the next answer comes; and now and then kill the server. */
async function breakThings(
  server: EtcdServer,
  proxy: CuttingProxy,
  { isOver, made }: { readonly isOver: () => boolean; readonly made: Breakages },
): Promise<void> {
  const random = seededRandom();
  for (let step = 1; !isOver(); step++) {
    await sleep(200 + random() * 500);
    if (step % STEPS_BETWEEN_CRASHES === 0) {
      await server.restart();
      made.serverKills++;
    } else if (step % 3 === 0) {
      proxy.cutSome("Now", 4);
      made.cuts++;
    } else {
      proxy.cutSome("AtAnswer", 3);
      made.lostAnswers++;
    }
  }
}

const title = `processes for ${FAULT_SECONDS} s, killed at random, with lost answers and a dying server: nothing that was acknowledged is lost`;

test.skipIf(skipped !== undefined)(title, { timeout: (FAULT_SECONDS + 300) * 1000 }, async () => {
  // Quick elections, so that a server that was killed is soon back.
  const server = await startEtcd(["--heartbeat-interval=50", "--election-timeout=500"]);
  const proxy = await CuttingProxy.before(server.endpoint);
  const logs = await mkdtemp(join(tmpdir(), "gossip-fault-"));
  try {
    await processes.prepare(WORKER);
    const made: Breakages = { cuts: 0, lostAnswers: 0, serverKills: 0 };
    const kills = await torment({
      logs,
      // Few enough that there is always something to claim: who finds nothing asks again and again, and a request costs a server of this kind more than others.
      start: (worker) => processes.start(WORKER, { endpoint: proxy.url, worker: { ...worker, sessions: 2 } }),
      alsoBreak: (isOver) => breakThings(server, proxy, { isOver, made }),
      isEnough: (soFar) => lacking({ ...countLines(readFaultLogs(logs)), ...made, kills: soFar }, LEAST).length === 0,
    });
    await server.restart();

    await using store = unwrap(await openEtcdStore({ endpoints: [server.endpoint] }));
    await store.swept();
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
});
