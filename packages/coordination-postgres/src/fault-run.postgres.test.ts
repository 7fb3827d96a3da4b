// Workers hammer one database while its server is killed and started again and connections are cut between a write and its answer.
// What one of them was told must be true afterwards: that is the promise of a store, and the only way to see it kept is to break
// everything around it.

import { setTimeout as sleep } from "node:timers/promises";
import { Cursor, OpId, RunId, ShardId, ShardSpec, SplitResidualPlan, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, systemClock, type WorkerSession } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";
import { expect, test } from "vitest";
import { findColumnFaults } from "./column-faults.fixture.ts";
import { CuttingProxy } from "./cutting-proxy.fixture.ts";
import { openPostgresStore } from "./open-postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

const SECONDS = Number(process.env["GOSSIP_FAULT_SECONDS"] ?? 8);
const STORES = 3;
const SESSIONS = 6;
const ROOTS = 24;
const WIDTH = 1 << 20;
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(9));
const RUN = RunId.fromRaw(1n);

const key = (place: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(place);
  return bytes;
};
const placeOf = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32BE();
const below = (limit: number) => Math.floor(Math.random() * limit);

/** What workers were told, by shard and fence, and what of it cannot be. */
class Ledger {
  readonly counts: Record<string, number> = {};
  readonly broken: string[] = [];
  readonly #holders = new Map<string, number>();
  readonly #furthest = new Map<ShardId, number>();
  readonly #completed = new Set<ShardId>();

  acquired(session: WorkerSession, worker: number): void {
    this.#count("acquired");
    const { shard } = session.shardKey;
    const stream = `${shard} ${session.lease.fence}`;
    const holder = this.#holders.get(stream) ?? worker;
    if (holder !== worker) this.broken.push(`two workers held a shard under one fence`);
    this.#holders.set(stream, worker);
    const start = session.cursor.lastKey === undefined ? -1 : placeOf(session.cursor.lastKey);
    if (start < (this.#furthest.get(shard) ?? -1)) this.broken.push("a shard was given out before a place that was acknowledged");
  }

  checkpointed(shard: ShardId, place: number): void {
    this.#count("checkpointed");
    this.#furthest.set(shard, Math.max(place, this.#furthest.get(shard) ?? -1));
  }

  completed(shard: ShardId, place: number): void {
    this.#count("completed");
    if (this.#completed.has(shard)) this.broken.push("a shard was completed twice");
    this.#completed.add(shard);
    this.checkpointed(shard, place);
  }

  refused(what: string, kind: string): void {
    this.#count(`${what}: ${kind}`);
  }

  /** Hold it against what is stored. */
  async judge(store: PostgresStore): Promise<void> {
    for (const [shard, place] of this.#furthest) {
      const record = unwrap(await store.readShard(TENANT, { run: RUN, shard })).shard?.record;
      const stored = record?.cursor.lastKey === undefined ? -1 : placeOf(record.cursor.lastKey);
      if (stored < place) this.broken.push("an acknowledged checkpoint is lost");
      if (this.#completed.has(shard) && record?.status !== "Done") this.broken.push("an acknowledged completion is lost");
    }
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

class Worker {
  readonly #coordinator: Coordinator;
  readonly #ledger: Ledger;
  readonly #number: number;
  readonly #isOver: () => boolean;

  constructor(store: PostgresStore, { ledger, number, isOver }: { readonly ledger: Ledger; readonly number: number; readonly isOver: () => boolean }) {
    this.#coordinator = new Coordinator({ store, clock: systemClock(Date.now), retry: { sleep: (ms) => sleep(ms), random: Math.random } });
    this.#ledger = ledger;
    this.#number = number;
    this.#isOver = isOver;
  }

  async work(): Promise<void> {
    while (!this.#isOver()) {
      const claimed = await this.#coordinator.claim({ tenant: TENANT, run: RUN, worker: WorkerId.fromRaw(BigInt(this.#number)) });
      if (claimed.ok) await this.#scan(claimed.value);
      else {
        this.#ledger.refused("claim", claimed.error.kind);
        await sleep(10 + below(30));
      }
    }
  }

  async #scan(session: WorkerSession): Promise<void> {
    this.#ledger.acquired(session, this.#number);
    const { shard } = session.shardKey;
    let at = session.cursor.lastKey === undefined ? placeOf(session.spec.keyRangeStart) : placeOf(session.cursor.lastKey) + 1;
    while (!this.#isOver() && !session.isClosed && !session.isLeaseLost) {
      const end = placeOf(session.spec.keyRangeEnd);
      const cut = at + 1 + below(WIDTH >> 4);
      if (below(40) === 0 && cut < end - 1) {
        const specs = { parentNewSpec: range(placeOf(session.spec.keyRangeStart), cut), residualSpec: range(cut, end) };
        const split = await session.splitResidual(unwrap(SplitResidualPlan.tryNew(specs)));
        this.#ledger.refused("split", split.ok ? "ok" : split.error.kind);
        continue;
      }
      if (at >= end - 1 || below(60) === 0) {
        const completed = await session.complete(Cursor.fromParts({ lastKey: key(end - 1) }));
        if (completed.ok) this.#ledger.completed(shard, end - 1);
        else this.#ledger.refused("complete", completed.error.kind);
        return;
      }
      const made = await session.checkpoint(Cursor.fromParts({ lastKey: key(at), token: key(at) }), { renew: true });
      if (made.ok) this.#ledger.checkpointed(shard, at);
      else this.#ledger.refused("checkpoint", made.error.kind);
      at += 1 + below(WIDTH >> 9);
    }
  }
}

const range = (start: number, end: number) => ShardSpec.withRange({ start: key(start), end: key(end) });

/** Kill the server and start it again. Its children may outlive it for a moment, and until they have noticed it will not start. */
async function crash(server: PostgresServer): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await server.restart();
      return;
    } catch (thrown) {
      if (tries === 100) throw thrown;
      await sleep(100);
    }
  }
}

async function torment(server: PostgresServer, proxy: CuttingProxy, isOver: () => boolean): Promise<{ cuts: number; lostAnswers: number; crashes: number }> {
  const done = { cuts: 0, lostAnswers: 0, crashes: 0 };
  for (let step = 1; !isOver(); step++) {
    await sleep(100 + below(300));
    if (step % 12 === 0) {
      await crash(server);
      done.crashes++;
    } else if (step % 3 === 0) {
      proxy.cutSome("Now", 4);
      done.cuts++;
    } else {
      proxy.cutSome("AtAnswer", 3);
      done.lostAnswers++;
    }
  }
  return done;
}

test(`${STORES} stores for ${SECONDS} s, with lost answers and a dying server: nothing that was acknowledged is lost`, { timeout: (SECONDS + 90) * 1000 }, async () => {
  const server = await startPostgres();
  const proxy = await CuttingProxy.before(server.url);
  const stores: PostgresStore[] = [];
  const direct = new Pool({ connectionString: server.url, max: 2 });
  direct.on("error", () => undefined);
  try {
    for (let count = 0; count < STORES; count++) stores.push(unwrap(await openPostgresStore({ url: proxy.url, statementTimeoutMs: 5000, maxConnections: 3 })));
    const shards = Array.from({ length: ROOTS }, (_, index) => ({ shard: ShardId.fromRaw(BigInt(index)), spec: range(index * WIDTH, (index + 1) * WIDTH), cursor: Cursor.initial() }));
    const first = new Coordinator({ store: stores[0]!, clock: systemClock(Date.now) });
    unwrap(await first.createRunWithShards({ tenant: TENANT, run: RUN, config: { leaseDuration: 1500n }, shards, opId: OpId.fromRaw(1n) }));

    const endsAt = performance.now() + SECONDS * 1000;
    const isOver = () => performance.now() >= endsAt;
    const ledger = new Ledger();
    const workers = stores.flatMap((store, index) => Array.from({ length: SESSIONS }, (_, session) => new Worker(store, { ledger, number: index * SESSIONS + session + 1, isOver })));
    const [done] = await Promise.all([torment(server, proxy, isOver), ...workers.map((worker) => worker.work())]);
    await crash(server);

    const last = unwrap(await openPostgresStore({ pool: direct }));
    await ledger.judge(last);
    console.log("fault run", done, ledger.counts);
    expect(ledger.broken).toEqual([]);
    expect(await findColumnFaults(direct, "gossip")).toEqual([]);
    // Else it would have been a quiet afternoon.
    expect(done.lostAnswers).toBeGreaterThan(0);
    expect(done.crashes).toBeGreaterThan(0);
    expect(ledger.counts["checkpointed"]).toBeGreaterThan(SECONDS);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await direct.end();
    await proxy.close();
    await server.dispose();
  }
});
