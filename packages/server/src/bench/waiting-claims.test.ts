// A worker that waits for a shard holds a connection and a promise at the server. If each cost what a small process costs,
// a fleet of ten thousand would need a machine of its own to do nothing.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { GossipClient } from "@gossip/client";
import { effort, isExploring } from "@gossip/tools/effort";
import { unwrap } from "@gossip/stdx";
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServiceProcess } from "./service-process.fixture.ts";

const MOST_BYTES = 20 * 1024;
const COUNT = effort({ usual: 400, exploring: 10_000 });
const place = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };

let node: ServiceProcess;
let client: GossipClient;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  node = await ServiceProcess.start();
  client = new GossipClient({ url: node.url });
});
afterAll(async () => {
  agent.destroy();
  client.close();
  await node.close();
});

/** A claim that waits at the server, over a connection of its own. */
function waitForShard(number: number): Promise<string> {
  const element = { ...place, run: "0000000000000001", worker: hex(number), opId: hex(number) };
  const body = JSON.stringify({ elements: [element], waitMs: 60_000 });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request(`${node.url}/v1/claim`, { agent, method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => resolve(text));
    })
      .on("error", reject)
      .end(body);
  });
}

function hex(number: number): string {
  return (number + 1).toString(16).padStart(16, "0");
}

test(
  `${COUNT} waiting workers cost less than 20 KB each, and all learn that their run has ended`,
  { timeout: 600_000 },
  async () => {
    const spec = ShardSpec.withRange({ start: Uint8Array.of(97), end: Uint8Array.of(122) });
    const shards = [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }];
    const config = { leaseDuration: 600_000n };
    unwrap(await client.createRunWithShards({ ...place, config, shards, opId: OpId.fromRaw(1n) }));
    unwrap(await client.claim({ ...place, worker: WorkerId.fromRaw(99_999n) }));
    // The first few also warm up what every later one uses.
    const answers = Array.from({ length: 50 }, (_, number) => waitForShard(number));
    await node.untilWaiting(50);
    const before = await node.memory();
    for (let number = 50; number < 50 + COUNT; number++) answers.push(waitForShard(number));
    await node.untilWaiting(50 + COUNT);
    const after = await node.memory();
    const bytes = (after.heap - before.heap) / COUNT;
    if (isExploring) process.stdout.write(`${COUNT} waiting workers: ${Math.round(bytes)} bytes each\n`);
    expect(bytes).toBeLessThan(MOST_BYTES);
    unwrap(await client.cancelRun({ ...place, opId: OpId.fromRaw(2n) }));
    for (const answer of await Promise.all(answers)) expect(answer).toContain("RunTerminal");
  },
);
