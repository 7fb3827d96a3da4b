// A listener that believes a run of a million shards to have the shards of its last page plans for a hundredth of the work.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationEvent, type CoordinatorApi } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { GossipClient } from "@gossip/client";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { Principal } from "../auth/principal.ts";
import { GossipServer } from "../server.ts";

const tenant = TenantId.ZERO;

async function activate(coordinator: CoordinatorApi, run: RunId): Promise<readonly CoordinationEvent[]> {
  const heard: CoordinationEvent[] = [];
  const stop = coordinator.onEvent((event) => heard.push(event));
  unwrap(await coordinator.createRun({ tenant, run, config: { leaseDuration: 1_000n } }));
  for (const [page, count] of [3, 2].entries()) {
    const shards = Array.from({ length: count }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(3 * page + index + 1)),
      spec: ShardSpec.withRange({ start: Uint8Array.of(3 * page + index), end: Uint8Array.of(3 * page + index + 1) }),
      cursor: Cursor.initial(),
    }));
    const opId = OpId.fromRaw(BigInt(page + 1));
    unwrap(await coordinator.registerShards({ tenant, run, shards, opId, more: page === 0 }));
  }
  stop();
  return heard.filter(({ kind }) => kind === "RunActivated");
}

test("the event of a run that was registered in pages counts all of them, over the network as in a process", async () => {
  const clock = new ManualClock(1_000n);
  const coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const authenticate = (): Principal => new Principal("operator", "operate", new Set([tenant]));
  const server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 }, authenticate }));
  const client = new GossipClient({ url: server.url, token: "any" });
  try {
    const all = [{ kind: "RunActivated", shardCount: 5 }];
    expect(await activate(coordinator, RunId.fromRaw(1n))).toMatchObject(all);
    expect(await activate(client, RunId.fromRaw(2n))).toMatchObject(all);
  } finally {
    client.close();
    await server.close();
  }
});
