// Nodes that take their time from different clocks break leases. Here each node runs an oracle, one leads, and it is killed.
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, freePort, makeCertificates, startEtcd, tlsSkipped, type EtcdServer } from "@gossip/tools/engines";
import { TimestampClient, type ClientTls } from "@gossip/tso-server";
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

const RUN = {
  tenant: "b".repeat(64),
  run: "0000000000000001",
  config: { leaseDuration: "30000" },
  shards: [{ shard: "0000000000000001", range: { start: "a", end: "b" } }],
  opId: "0000000000000001",
};

async function statusOf(url: string, body?: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) })).status;
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
  { timeout: 300_000 },
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
      last = await untilTime(url("b"));
      expect((await fetch(`${url("b")}/readyz`)).status).toBe(200);
      // Without etcd no oracle may lead for long. The node then has no time, says so, and does not use its own clock.
      await etcd.kill();
      while ((await fetch(`${url("b")}/readyz`)).status !== 503)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await statusOf(`${url("b")}/v1/timestamp`)).toBe(503);
      expect(await statusOf(`${url("b")}/v1/runs`, RUN)).toBe(503);
      await etcd.restart();
      expect(await untilTime(url("b"))).toBeGreaterThan(last);
      expect(await statusOf(`${url("b")}/v1/runs`, RUN)).toBe(200);
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
    }
  },
);

test.skipIf(SKIPPED !== undefined || tlsSkipped() !== undefined)(
  "nodes with certificates take the time from each other over TLS, and from no other client",
  { timeout: 300_000 },
  async () => {
    const { ca, server, client } = makeCertificates(folder);
    const [port, clockPort] = [await freePort(), await freePort()];
    await writeFile(
      join(folder, "one.toml"),
      `[[cluster.node]]\nname = "one"\naddress = "127.0.0.1:${port}"\n[[cluster.scope]]\nprefix = "t/"\nwriter = "one"\n`,
    );
    const node = await startGossip(
      [
        ..."serve --store store-one --cluster one.toml --node one".split(" "),
        ...`--tls-cert ${server.cert} --tls-key ${server.key} --tls-client-ca ${ca}`.split(" "),
        ...`--tso etcd://${new URL(etcd.endpoint).host} --tso-listen 127.0.0.1:${clockPort}`.split(" "),
      ],
      { cwd: folder },
    );
    try {
      expect(await node.heard(/^listening/m)).toBe(true);
      const own = { ca: readFileSync(ca), cert: readFileSync(client.cert), key: readFileSync(client.key) };
      while ((await readyOver(`https://127.0.0.1:${port}/readyz`, own)) !== 200)
        await new Promise((resolve) => setTimeout(resolve, 50));
      const ask = (tls?: ClientTls) => {
        const options = { endpoints: [`127.0.0.1:${clockPort}`], retryPolicy: { maxAttempts: 1, overallMs: 10_000 } };
        const asking = unwrap(TimestampClient.create(tls === undefined ? options : { ...options, tls }));
        return asking.getTs().finally(() => asking.close());
      };
      expect(await ask(own)).toMatchObject({ ok: true });
      expect(await ask({ ca: own.ca })).toMatchObject({ ok: false });
      expect(await ask()).toMatchObject({ ok: false });
    } finally {
      await node.kill();
    }
  },
);

test.skipIf(SKIPPED !== undefined)(
  "a node reads the token that oracles recognize each other by again on SIGHUP",
  { timeout: 300_000 },
  async () => {
    const [old, renewed] = [`gspc_${"a".repeat(43)}`, `gspc_${"b".repeat(43)}`];
    const [port, clockPort] = [await freePort(), await freePort()];
    await writeFile(
      join(folder, "two.toml"),
      `[[cluster.node]]\nname = "two"\naddress = "127.0.0.1:${port}"\n[[cluster.scope]]\nprefix = "t/"\nwriter = "two"\n`,
    );
    await writeFile(join(folder, "cluster.token"), old);
    const node = await startGossip(
      [
        ..."serve --store store-two --cluster two.toml --node two --cluster-token cluster.token".split(" "),
        ...`--tso etcd://${new URL(etcd.endpoint).host} --tso-listen 127.0.0.1:${clockPort}`.split(" "),
      ],
      { cwd: folder },
    );
    try {
      const ask = (token: string) => {
        const options = { endpoints: [`127.0.0.1:${clockPort}`], retryPolicy: { maxAttempts: 1, overallMs: 10_000 } };
        const asking = unwrap(TimestampClient.create({ ...options, token }));
        return asking.getTs().finally(() => asking.close());
      };
      const url = `http://127.0.0.1:${port}`;
      expect(await node.heard(/^listening/m)).toBe(true);
      await untilTime(url);
      expect([(await ask(old)).ok, (await ask(renewed)).ok]).toEqual([true, false]);
      // Both for a while, as an operator does it, then the new one alone.
      await writeFile(join(folder, "cluster.token"), `${renewed}\n${old}\n`);
      node.signal("SIGHUP");
      expect(await node.heard(/^cluster-tokens read again/m)).toBe(true);
      expect([(await ask(old)).ok, (await ask(renewed)).ok]).toEqual([true, true]);
      await writeFile(join(folder, "cluster.token"), renewed);
      node.signal("SIGHUP");
      expect(await node.heard(/^cluster-tokens read again(?:.|\n)*^cluster-tokens read again/m)).toBe(true);
      expect([(await ask(old)).ok, (await ask(renewed)).ok]).toEqual([false, true]);
      // The node's own clock comes from its oracle, with the new token.
      await untilTime(url);
    } finally {
      await node.kill();
    }
  },
);

function readyOver(url: string, tls: object): Promise<number | undefined> {
  return new Promise((resolve) => {
    request(url, tls, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", () => resolve(undefined))
      .end();
  });
}
