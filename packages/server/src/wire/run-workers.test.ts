// The point of the service: workers that have no store do the same work as workers that have one. Here they work over
// real HTTP on a real store, with a proxy between them that loses answers.
import { GossipClient } from "@gossip/client";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { iterableSource, runWorkers, startRun } from "@gossip/worker";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GossipServer } from "../server.ts";
import { FaultyProxy } from "./faulty-proxy.fixture.ts";

const RUN = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(7)), run: RunId.fromRaw(9n) };
const words = Array.from({ length: 2_000 }, (_, index) => `word-${String(index).padStart(5, "0")}`);
const source = iterableSource({ name: "words", items: words, keyOf: (word) => new TextEncoder().encode(word) });

async function serve() {
  const path = await mkdtemp(join(tmpdir(), "gossip-server-"));
  const store = unwrap(await openLmdbStore({ path }));
  const clock = systemClock(Date.now);
  const coordinator = new Coordinator({ store, clock, shardCopies: 1_000 });
  const defects: unknown[] = [];
  const server = unwrap(
    await GossipServer.start({ coordinator, clock, listen: { port: 0 }, onDefect: (thrown) => defects.push(thrown) }),
  );
  return {
    server,
    coordinator,
    defects,
    close: async () => {
      await server.close();
      await store.close();
      await rm(path, { recursive: true });
    },
  };
}

async function work(client: GossipClient, seen: Map<string, number>) {
  return runWorkers({
    coordinator: client,
    run: RUN,
    source,
    concurrency: 4,
    checkpointEvery: { items: 20 },
    process: ({ value }) => {
      seen.set(value, (seen.get(value) ?? 0) + 1);
    },
  });
}

test("two processes work through a run over HTTP, each item once", async () => {
  const { server, coordinator, defects, close } = await serve();
  const clients = [0, 1].map(() => new GossipClient({ url: server.url }));
  const seen = new Map<string, number>();
  try {
    const started = await startRun({
      coordinator: clients[0]!,
      run: RUN,
      source,
      shardCount: 8,
      config: { leaseDuration: 30_000n },
    });
    expect(unwrap(started).kind).toBe("Created");
    const summaries = await Promise.all(clients.map((client) => work(client, seen)));
    expect(summaries.map(({ stopped }) => stopped.kind)).toEqual(["Done", "Done"]);
    expect([...seen.keys()].sort()).toEqual(words);
    expect([...seen.values()].every((count) => count === 1)).toBe(true);
    expect(unwrap(await coordinator.getRunProgress(RUN))).toMatchObject({ active: 0, parked: 0 });
    expect(defects).toEqual([]);
  } finally {
    for (const client of clients) client.close();
    await close();
  }
});

test.each([1, 2, 3])(
  "with a proxy that drops, delays, duplicates and cuts, no item is lost (seed %i)",
  async (seed) => {
    const { server, coordinator, defects, close } = await serve();
    const proxy = await FaultyProxy.start(server.url, seed);
    const client = new GossipClient({ url: proxy.url, replyTimeoutMs: 300, claimWaitMs: 0, random: () => 0.5 });
    const seen = new Map<string, number>();
    try {
      unwrap(
        await startRun({ coordinator: client, run: RUN, source, shardCount: 6, config: { leaseDuration: 30_000n } }),
      );
      const { stopped } = await work(client, seen);
      expect(stopped.kind).toBe("Done");
      // No lease was lost, because every lost answer was asked for again: each item was done once.
      expect([...seen.keys()].sort()).toEqual(words);
      expect([...seen.values()].every((count) => count === 1)).toBe(true);
      expect(unwrap(await coordinator.getRunProgress(RUN))).toMatchObject({ active: 0, parked: 0 });
      expect(proxy.faults).toBeGreaterThan(10);
      expect(defects).toEqual([]);
    } finally {
      client.close();
      await proxy.close();
      await close();
    }
  },
);
