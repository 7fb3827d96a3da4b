// The same work over the network on both sides: ours through the service, which runs in a process of its own, and that of
// other systems over the wire of their server.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GossipClient } from "@gossip/client";
import type { WorkerSession } from "@gossip/coordination";
import { compare } from "@gossip/tools/bench";
import { redisMissing, startPostgres, startRedis, type PostgresServer, type RedisServer } from "@gossip/tools/engines";
import { BullHeld, BullJobs, BullProgress } from "./bullmq.ts";
import { OurWork } from "./ours.ts";
import { BossJobs } from "./pg-boss.ts";
import { JOBS, MANY, SESSIONS, STEPS } from "./sizes.ts";

/** Our side: a process that serves, and a client. */
class OurService {
  readonly client: GossipClient;
  readonly #child: ChildProcess;

  static async start(where: string): Promise<OurService> {
    const child = fork(new URL("./service-child.ts", import.meta.url), [where]);
    const [url] = (await once(child, "message")) as [string];
    return new OurService(child, url);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.client = new GossipClient({ url, claimWaitMs: 0 });
  }

  async close(): Promise<void> {
    this.client.close();
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

const OURS = "ours, through the service";
const drained = { callsPerRun: JOBS, measureHeap: false, sampleMs: 1, warmMs: 4_000, rounds: 9 };
let service: OurService;
let ours: OurWork;

let postgres: PostgresServer;
let boss: BossJobs;
compare("service on postgres: claim and complete, 10 workers", {
  forms: { [OURS]: () => ours.drain(), "pg-boss, in bursts": () => boss.drain() },
  bounds: [{ form: OURS, ratioAtMost: 1, toBestOf: ["pg-boss, in bursts"] }],
  options: drained,
  prepare: (form) => (form === OURS ? ours.prepare() : boss.prepare()),
  before: async () => {
    postgres = await startPostgres();
    service = await OurService.start(postgres.url);
    ours = new OurWork(service.client, { claimCount: MANY });
    boss = await BossJobs.start(postgres.url);
  },
  after: async () => {
    await boss.close();
    await service.close();
    await postgres.dispose();
  },
});

const missing = redisMissing();
if (missing !== undefined) console.warn(`LEFT OUT: the service beside BullMQ: ${missing}`);
else {
  let redis: RedisServer;
  let folder: string;
  let jobs: BullJobs;
  let progress: BullProgress;
  let held: BullHeld;
  let sessions: readonly WorkerSession[];
  const start = async (): Promise<void> => {
    redis = await startRedis();
    folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
    service = await OurService.start(`lmdb:${join(folder, "store")}`);
    ours = new OurWork(service.client);
  };
  const stop = async (): Promise<void> => {
    await service.close();
    await redis.dispose();
    await rm(folder, { recursive: true });
  };

  compare("service on lmdb: claim and complete, 10 workers", {
    forms: { [OURS]: () => ours.drain(), "BullMQ on Redis": () => jobs.drain() },
    bounds: [{ form: OURS, ratioAtMost: 1, toBestOf: ["BullMQ on Redis"] }],
    options: drained,
    prepare: (form) => (form === OURS ? ours.prepare() : jobs.prepare()),
    before: async () => {
      await start();
      jobs = new BullJobs(redis.port);
    },
    after: async () => {
      await jobs.close();
      await stop();
    },
  });

  // What a worker of theirs must do to learn that it lost its job, and what a checkpoint of ours does in one write. Progress
  // alone checks nothing: any caller can write it, also one that lost the job long ago, and a lock is not extended.
  compare("service on lmdb: fenced and renewing progress of 64", {
    forms: {
      [OURS]: () => ours.checkpoint(sessions, STEPS, { renew: true }),
      "BullMQ on Redis, each lock and progress": () => held.extendEach(STEPS),
      "BullMQ on Redis, all locks and progress": () => held.extendTogether(STEPS),
      "BullMQ on Redis, progress alone": () => progress.write(STEPS),
    },
    bounds: [
      {
        form: OURS,
        ratioAtMost: 1,
        toBestOf: ["BullMQ on Redis, each lock and progress", "BullMQ on Redis, all locks and progress"],
      },
    ],
    options: { callsPerRun: SESSIONS * STEPS, measureHeap: false, sampleMs: 200, warmMs: 3_000, rounds: 15 },
    before: async () => {
      await start();
      sessions = await ours.open(SESSIONS);
      progress = await BullProgress.onRedis(redis.port, SESSIONS);
      held = await BullHeld.onRedis(redis.port, SESSIONS);
    },
    after: async () => {
      await held.close();
      await progress.close();
      await stop();
    },
  });
}
