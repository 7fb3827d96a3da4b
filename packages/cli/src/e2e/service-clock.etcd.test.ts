// Nodes that take their time from different clocks break leases. Here each node runs an oracle, one leads, and it is killed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdSkipped, freePort, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

const SKIPPED = etcdSkipped();
let etcd: EtcdServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-clock-"));
  if (SKIPPED === undefined) etcd = await startEtcd();
});
afterAll(async () => {
  await etcd?.dispose();
  await removeGossipScript();
  await rm(folder, { recursive: true, force: true });
});

async function timestampOf(url: string): Promise<bigint | undefined> {
  try {
    const response = await fetch(`${url}/v1/timestamp`, { signal: AbortSignal.timeout(5_000) });
    if (response.status !== 200) return undefined;
    return BigInt(((await response.json()) as { timestamp: string }).timestamp);
  } catch {
    return undefined;
  }
}

/** Ask until there is a timestamp: an election takes seconds. */
async function untilTime(url: string): Promise<bigint> {
  for (;;) {
    const timestamp = await timestampOf(url);
    if (timestamp !== undefined) return timestamp;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.skipIf(SKIPPED !== undefined)(
  "the nodes of a cluster share one clock, which goes on when its leader is killed",
  { timeout: 120_000 },
  async () => {
    const ports = new Map([
      ["a", await freePort()],
      ["b", await freePort()],
    ]);
    const url = (name: string) => `http://127.0.0.1:${ports.get(name)}`;
    await writeFile(
      join(folder, "cluster.toml"),
      [...ports]
        .map(
          ([name, port]) =>
            `[[cluster.node]]\nname = "${name}"\naddress = "127.0.0.1:${port}"\n` +
            `[[cluster.scope]]\nprefix = "t/${name}"\nwriter = "${name}"\n`,
        )
        .join(""),
    );
    const nodes: GossipProcess[] = [];
    try {
      for (const name of ports.keys())
        nodes.push(
          await startGossip(
            [
              ...`serve --store store-${name} --cluster cluster.toml --node ${name}`.split(" "),
              ...`--tso etcd://${new URL(etcd.endpoint).host} --tso-listen 127.0.0.1:${await freePort()}`.split(" "),
            ],
            { cwd: folder },
          ),
        );
      for (const node of nodes) expect(await node.heard(/^listening/m)).toBe(true);
      let last = await untilTime(url("a"));
      for (let turn = 0; turn < 20; turn++) {
        const next = await untilTime(url(turn % 2 === 0 ? "b" : "a"));
        expect(next).toBeGreaterThan(last);
        last = next;
      }
      expect((await fetch(`${url("b")}/readyz`)).status).toBe(200);
      // The first node leads: it was the first to stand for election.
      await nodes[0]!.kill();
      expect(await untilTime(url("b"))).toBeGreaterThan(last);
      expect((await fetch(`${url("b")}/readyz`)).status).toBe(200);
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
    }
  },
);
