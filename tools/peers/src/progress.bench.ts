// 64 sessions write checkpoints, each as soon as its last is durable, beside 64 jobs of BullMQ whose progress is written in the same way:
// ours fenced and idempotent, theirs by any caller with the job's id.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkerSession } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { redisMissing, startPostgres, startRedis, type PostgresServer, type RedisServer } from "@gossip/tools/engines";
import { BullProgress } from "./bullmq.ts";
import { OurWork } from "./ours.ts";
import { SESSIONS, STEPS } from "./sizes.ts";

const options = { callsPerRun: SESSIONS * STEPS, measureHeap: false, sampleMs: 60, rounds: 21 };

let store: PostgresStore | LmdbStore;
let work: OurWork;
let sessions: readonly WorkerSession[];
let theirs: BullProgress;

async function use(opened: PostgresStore | LmdbStore): Promise<void> {
  store = opened;
  work = new OurWork(store);
  sessions = await work.open(SESSIONS);
}

async function close(): Promise<void> {
  await store.close();
  await theirs.close();
}

const checkpoint = () => work.checkpoint(sessions, STEPS);
const updateProgress = () => theirs.write(STEPS);

let postgres: PostgresServer;
compare("postgres: progress of 64", {
  forms: { ours: checkpoint, "BullMQ on PostgreSQL": updateProgress },
  bounds: [{ form: "ours", ratioAtMost: 1 / 3, toBestOf: ["BullMQ on PostgreSQL"] }],
  options,
  before: async () => {
    postgres = await startPostgres();
    await use(unwrap(await openPostgresStore({ url: postgres.url })));
    theirs = await BullProgress.onPostgres(postgres.url, SESSIONS);
  },
  after: async () => {
    await close();
    await postgres.dispose();
  },
});

const missing = redisMissing();
if (missing !== undefined) console.warn(`LEFT OUT: lmdb beside BullMQ: ${missing}`);
else {
  let redis: RedisServer;
  let folder: string;
  compare("lmdb: progress of 64", {
    forms: { ours: checkpoint, "BullMQ on Redis": updateProgress },
    bounds: [{ form: "ours", ratioAtMost: 1, toBestOf: ["BullMQ on Redis"] }],
    options,
    before: async () => {
      redis = await startRedis();
      folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
      await use(unwrap(await openLmdbStore({ path: join(folder, "store") })));
      theirs = await BullProgress.onRedis(redis.port, SESSIONS);
    },
    after: async () => {
      await close();
      await redis.dispose();
      await rm(folder, { recursive: true });
    },
  });
}
