// Durable checkpoints that renew, through the service and on the same kind of store in this process. The service runs in a
// process of its own, as it does in use.
import { GossipClient } from "@gossip/client";
import { Coordinator, systemClock, type CoordinatorApi } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchSessions } from "./bench-sessions.fixture.ts";
import { ServiceProcess } from "./service-process.fixture.ts";

const isSmoke = process.argv.includes("--smoke");
let node: ServiceProcess;
let store: LmdbStore;
let folder: string;
let clients: GossipClient[];
let through: BenchSessions;
let direct: BenchSessions;

async function start(sessions: number, clientCount: number): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "gossip-bench-"));
  store = unwrap(await openLmdbStore({ path: join(folder, "store") }));
  const coordinator: CoordinatorApi = new Coordinator({ store, clock: systemClock(Date.now) });
  direct = await BenchSessions.open([coordinator], sessions);
  node = await ServiceProcess.start();
  clients = Array.from({ length: clientCount }, () => new GossipClient({ url: node.url }));
  through = await BenchSessions.open(clients, sessions);
}

async function stop(): Promise<void> {
  for (const client of clients) client.close();
  await node.close();
  await store.close();
  await rm(folder, { recursive: true });
}

for (const { sessions, clientCount, atLeast } of [
  { sessions: 64, clientCount: 1, atLeast: 0.6 },
  { sessions: isSmoke ? 100 : 1_000, clientCount: 10, atLeast: 0.8 },
]) {
  const steps = isSmoke ? 1 : 8;
  const name = clientCount === 1 ? "one client" : `${clientCount} clients`;
  compare(`service: durable renewing checkpoint, ${sessions} sessions of ${name}`, {
    forms: { "through the service": () => through.checkpoint(steps), "in process": () => direct.checkpoint(steps) },
    bounds: [{ form: "through the service", ratioAtMost: 1 / atLeast, toBestOf: ["in process"] }],
    options: { callsPerRun: sessions * steps, measureHeap: false, sampleMs: 200, warmMs: 3_000, rounds: 15 },
    before: () => start(sessions, clientCount),
    after: stop,
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 1, noDelay: true });
const PAYLOAD = Buffer.from("{}");

/** A request and a response with nothing in them, over a connection that is kept. */
function exchange(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": PAYLOAD.length };
    const sent = request(node.emptyUrl, { agent, method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    sent.on("error", reject);
    sent.end(PAYLOAD);
  });
}

compare("service: one durable renewing checkpoint", {
  forms: {
    "through the service": () => through.checkpoint(1),
    "an empty exchange, then a checkpoint in process": async () => {
      await exchange();
      await direct.checkpoint(1);
    },
  },
  bounds: [
    {
      form: "through the service",
      ratioAtMost: 2,
      toBestOf: ["an empty exchange, then a checkpoint in process"],
    },
  ],
  options: { measureHeap: false, sampleMs: 100, warmMs: 2_000, rounds: 21 },
  before: () => start(1, 1),
  after: async () => {
    agent.destroy();
    await stop();
  },
});
