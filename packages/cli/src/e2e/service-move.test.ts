// Nodes with stores of their own, each in a folder. A scope with a held lease moves from one to the other and back, and
// nodes are killed meanwhile. Its records must be at one of them, whole, and the worker must not notice.
import { GossipClient } from "@gossip/client";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { effort, seededRandom } from "@gossip/tools/effort";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";
import { NODES, ServiceCluster, type NodeName } from "./service-cluster.fixture.ts";

const TENANT = unwrap(TenantId.parse("1".repeat(64)));
const RUN = { tenant: TENANT, run: RunId.fromRaw(1n) };
const SHARDS = 40;
const MOVES = effort({ usual: 2, exploring: 60 });
const keyAt = (index: number) => new TextEncoder().encode(`k${String(index).padStart(4, "0")}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-move-"));
});
afterAll(async () => {
  await removeGossipScript();
  await rm(folder, { recursive: true, force: true });
});

async function createRun(client: GossipClient): Promise<void> {
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyAt(index * 100), end: keyAt(index * 100 + 100) }),
    cursor: Cursor.initial(),
  }));
  unwrap(
    await client.createRunWithShards({ ...RUN, config: { leaseDuration: 3_600_000n }, shards, opId: OpId.fromRaw(1n) }),
  );
}

test(
  "a scope moves between folders with its records, leases and op logs, whichever node is killed",
  { timeout: 600_000 },
  async () => {
    const cluster = new ServiceCluster(folder, (name) => `store-${name}`);
    const random = seededRandom(18);
    let client: GossipClient | undefined;
    try {
      await cluster.start();
      client = new GossipClient({
        url: cluster.url("a"),
        otherUrls: NODES.map((name) => cluster.url(name)),
        claimWaitMs: 0,
      });
      await createRun(client);
      const session = unwrap(await client.claim({ ...RUN, worker: WorkerId.fromRaw(9n) }));
      const { fence } = session.lease;
      const first = Number(session.lease.shard - 1n) * 100;
      let place: NodeName = "a";
      for (let turn = 0; turn < MOVES; turn++) {
        const opId = OpId.fromRaw(BigInt(1_000 + turn));
        const cursor = Cursor.withLastKey(keyAt(first + turn));
        const request = { tenant: TENANT, lease: session.lease, opId, cursor };
        expect(unwrap(await client.checkpoint(request)).kind).toBe("Executed");
        const others = NODES.filter((name) => name !== place);
        const to: NodeName = others[turn % others.length]!;
        const moving = cluster.move(`m${turn}`, { prefix: "t/1", to, at: place });
        // At a moment that nothing determines.
        await new Promise((resolve) => setTimeout(resolve, random() * 40));
        const victim = random() < 0.5 ? place : to;
        await cluster.killNode(victim);
        await cluster.startNode(victim);
        if ((await moving) === "Committed") place = to;
        expect(unwrap(await client.checkpoint(request)).kind).toBe("Replayed");
      }
      unwrap(
        await client.complete({
          tenant: TENANT,
          lease: session.lease,
          opId: OpId.fromRaw(9n),
          point: Cursor.withLastKey(keyAt(first + 99)),
        }),
      );
      expect(session.lease.fence).toBe(fence);
      expect(unwrap(await client.getRunProgress(RUN))).toMatchObject({ total: SHARDS, done: 1 });
      for (const [id, ends] of cluster.decisions()) expect([id, ends.size]).toEqual([id, 1]);
      await cluster.settled();
      await cluster.stopNodes();
      for (const name of NODES) {
        const checked = await gossip(["fsck", "--store", `store-${name}`, "--json"], { cwd: folder });
        expect([name, checked.code, checked.stderr]).toEqual([name, 0, ""]);
        const runs = await gossip(["runs", "--store", `store-${name}`, "--tenant", TENANT, "--json"], { cwd: folder });
        expect([name, runs.stdout.trim() !== ""]).toEqual([name, name === place]);
      }
    } finally {
      client?.close();
      await cluster.stop();
    }
  },
);
