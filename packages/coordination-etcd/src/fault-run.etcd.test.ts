// Processes hammer one etcd and are killed at random; meanwhile its server is killed and started again, and connections are cut
// between a write and its answer. What one of them was told must be true afterwards: that is the promise of a store, and the only way
// to see it kept is to break everything around it.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { FAULT_SECONDS, judge, readFaultLogs, torment } from "@gossip/tools/fault-run";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { afterAll, expect, test } from "vitest";
import { openEtcdStore } from "./open-etcd-store.ts";
import { processes } from "./worker-process.fixture.ts";

const WORKER = "./fault-worker.fixture.ts";
const STEPS_BETWEEN_CRASHES = 9;

const skipped = etcdSkipped();
afterAll(() => processes.remove());

type Breakages = Record<"cuts" | "lostAnswers" | "serverKills", number>;

/** Cut connections now, or when the next answer comes; and now and then kill the server. */
async function breakThings(server: EtcdServer, proxy: CuttingProxy, { isOver, made }: { readonly isOver: () => boolean; readonly made: Breakages }): Promise<void> {
  for (let step = 1; !isOver(); step++) {
    await sleep(200 + Math.random() * 500);
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

/**
 * A process, mostly once it has opened the store: on a busy machine that takes as long as it is allowed to live. Now and then one is
 * killed before that.
 */
async function startWorker(config: object): Promise<ChildProcess> {
  const child = await processes.start(WORKER, config);
  if (Math.random() < 0.8) await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
  return child;
}

/** One run on a store of its own, and what came of it. What must not happen is asserted here. */
async function tormentOnce(server: EtcdServer, proxy: CuttingProxy, prefix: string): Promise<Readonly<Record<string, number>>> {
  const logs = await mkdtemp(join(tmpdir(), "gossip-fault-"));
  try {
    const made: Breakages = { cuts: 0, lostAnswers: 0, serverKills: 0 };
    const kills = await torment({
      logs,
      // Few enough that there is always something to claim: who finds nothing asks again and again, and a request costs a server of this kind more than others.
      start: (worker) => startWorker({ endpoint: proxy.url, prefix, worker: { ...worker, sessions: 2 } }),
      alsoBreak: (isOver) => breakThings(server, proxy, { isOver, made }),
    });
    await server.restart();

    await using store = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix }));
    await store.swept();
    const { counts, broken } = await judge(store, readFaultLogs(logs));
    const report = unwrap(await fsck(store.inspect()));
    console.log(`fault run: ${kills} kills`, made, counts, { runs: report.runCount, shards: report.shardCount, deletedRuns: report.deletedRunCount });
    expect(broken).toEqual([]);
    expect(report.findings).toEqual([]);
    return { ...counts, kills, ...made };
  } finally {
    await rm(logs, { recursive: true });
  }
}

/** Else it would have been a quiet afternoon. */
function isEnough(counts: Readonly<Record<string, number>>): boolean {
  const atLeast = { kills: FAULT_SECONDS / 4, lostAnswers: 1, serverKills: 1, Checkpointed: 5 * FAULT_SECONDS, Completed: 1, Split: 1, Deleted: 1 };
  return Object.entries(atLeast).every(([what, least]) => (counts[what] ?? 0) >= least);
}

const MAX_ROUNDS = 6;
const title = `processes for ${FAULT_SECONDS} s, killed at random, with lost answers and a dying server: nothing that was acknowledged is lost`;

test.skipIf(skipped !== undefined)(title, { timeout: (FAULT_SECONDS + 30) * 1000 * MAX_ROUNDS }, async () => {
  // Quick elections, so that a server that was killed is soon back.
  const server = await startEtcd(["--heartbeat-interval=50", "--election-timeout=500"]);
  const proxy = await CuttingProxy.before(server.endpoint);
  try {
    await processes.prepare(WORKER);
    const total: Record<string, number> = {};
    // Where the machine is busy, processes are killed before they have done much. Then another run is made.
    for (let round = 1; round <= MAX_ROUNDS && !isEnough(total); round++) {
      for (const [what, count] of Object.entries(await tormentOnce(server, proxy, `round-${round}`))) total[what] = (total[what] ?? 0) + count;
    }
    expect(total).toSatisfy(isEnough);
  } finally {
    await proxy.close();
    await server.dispose();
  }
});
