// Ten workers of one process claim and complete 10,000 shards, beside ten workers that take and complete 10,000 jobs of other systems that
// do nothing: on the same PostgreSQL, and on lmdb beside a Redis that syncs before it answers. Ours are fenced and idempotent besides.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { redisMissing, startPostgres, startRedis, type PostgresServer, type RedisServer } from "@gossip/tools/engines";
import { BullJobs } from "./bullmq.ts";
import { fetchGraphile, GraphileJobs } from "./graphile-worker.ts";
import { OurWork } from "./ours.ts";
import { BossJobs } from "./pg-boss.ts";
import { BURST, JOBS, MANY } from "./sizes.ts";

interface Jobs {
  prepare(): Promise<void>;
  drain(): Promise<void>;
  close(): Promise<void>;
}

const isSmoke = process.argv.includes("--smoke");
const options = { callsPerRun: JOBS, measureHeap: false, sampleMs: 1, warmMs: 4000, rounds: 9 };
const systems = new Map<string, Jobs>();
const prepare = (form: string) => systems.get(form)!.prepare();
const drain = (form: string) => () => systems.get(form)!.drain();

async function closeAll(): Promise<void> {
  for (const system of systems.values()) await system.close();
  systems.clear();
}

function ours(store: PostgresStore | LmdbStore, claimCount = BURST): Jobs {
  const work = new OurWork(store, { claimCount });
  return { prepare: () => work.prepare(), drain: () => work.drain(), close: () => store.close() };
}

// A smoke test fetches nothing.
const graphile = isSmoke ? "graphile-worker is left out of smoke tests" : fetchGraphile();
if (typeof graphile === "string") console.warn(`LEFT OUT: ${graphile}`);
const onPostgres = ["pg-boss, in bursts", ...(typeof graphile === "string" ? [] : ["graphile-worker, local queue"])];
let postgres: PostgresServer;

compare("postgres: claim and complete, 10 workers", {
  forms: Object.fromEntries(["ours", ...onPostgres].map((form) => [form, drain(form)])),
  bounds: [{ form: "ours", ratioAtMost: 1, toBestOf: onPostgres }],
  options,
  prepare,
  before: async () => {
    postgres = await startPostgres();
    systems.set("ours", ours(unwrap(await openPostgresStore({ url: postgres.url })), MANY));
    systems.set("pg-boss, in bursts", await BossJobs.start(postgres.url));
    if (typeof graphile !== "string")
      systems.set("graphile-worker, local queue", await GraphileJobs.start(postgres.url, graphile));
  },
  after: async () => {
    await closeAll();
    await postgres.dispose();
  },
});

const missing = redisMissing();
if (missing !== undefined) console.warn(`LEFT OUT: lmdb beside BullMQ: ${missing}`);
else {
  let redis: RedisServer;
  let folder: string;
  compare("lmdb: claim and complete, 10 workers", {
    forms: { ours: drain("ours"), "BullMQ on Redis": drain("BullMQ on Redis") },
    bounds: [{ form: "ours", ratioAtMost: 1, toBestOf: ["BullMQ on Redis"] }],
    options,
    prepare,
    before: async () => {
      redis = await startRedis();
      folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
      systems.set("ours", ours(unwrap(await openLmdbStore({ path: join(folder, "store") }))));
      systems.set("BullMQ on Redis", new BullJobs(redis.port));
    },
    after: async () => {
      await closeAll();
      await redis.dispose();
      await rm(folder, { recursive: true });
    },
  });
}
