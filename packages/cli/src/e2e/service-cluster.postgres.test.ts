// The whole system: three nodes that share a PostgreSQL and one clock, two tenants, workers in TypeScript and in Python.
// Nodes are killed, scopes move under load, and clocks are wrong by minutes. Nothing may be lost or done twice.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { effort, seededRandom } from "@gossip/tools/effort";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";
import { ClusterWatch, NODES, ServiceCluster, type NodeName } from "./service-cluster.fixture.ts";

const WORKER = fileURLToPath(new URL("../../../../examples/python-worker/worker.py", import.meta.url));
const FIRST = "1".repeat(64);
const SECOND = "2".repeat(64);
const RUN = "0000000000000001";
const SIZE = effort({ usual: { items: 120, rounds: 2 }, exploring: { items: 2_000, rounds: 30 } });
const items = Array.from({ length: SIZE.items }, (_, index) => `w${String(index).padStart(5, "0")}`);

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("service-cluster: without workers in Python, because python3 is not installed");

let server: PostgresServer;
let folder: string;
beforeAll(async () => {
  server = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "gossip-system-"));
});
afterAll(async () => {
  await server?.dispose();
  await removeGossipScript();
  await rm(folder, { recursive: true, force: true });
});

/** A run of the second tenant for workers in Python. */
async function createRun(cluster: ServiceCluster): Promise<void> {
  const body = {
    tenant: SECOND,
    run: RUN,
    config: { leaseDuration: "60000" },
    shards: ["w00000", "w00040", "w00080"].map((start, index, all) => ({
      shard: `000000000000000${index + 1}`,
      range: { start, end: all[index + 1] ?? "x" },
    })),
    opId: RUN,
  };
  const headers = { "content-type": "application/json", "gossip-forward": "1" };
  // Asked at a node that does not own it.
  const response = await fetch(`${cluster.url("a")}/v1/runs`, { method: "POST", headers, body: JSON.stringify(body) });
  expect([response.status, response.status === 200 ? "" : await response.text()]).toEqual([200, ""]);
}

function startPython(cluster: ServiceCluster, at: NodeName) {
  const args = ["--url", cluster.url(at), "--run", RUN, "--tenant", SECOND, "--items", "items.txt"];
  const more = ["--out", "python.txt", "--every", "3", "--pause-ms", String(effort({ usual: 60, exploring: 30 }))];
  const child = spawn("python3", [WORKER, ...args, ...more], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return once(child, "exit").then(([code]) => ({ code: code as number, stderr }));
}

function startTypeScript(cluster: ServiceCluster, at: NodeName) {
  return startGossip(
    [
      "run",
      ..."--source lines:items.txt --out typescript.ndjson --workers 2 --lease 60".split(" "),
      "--exec",
      "sleep 0.05; echo done-{}",
      "--store",
      cluster.url(at),
      "--tenant",
      FIRST,
    ],
    { cwd: folder },
  );
}

/** Where each scope is, and the next place for it. */
async function disturb(cluster: ServiceCluster): Promise<string[]> {
  const random = seededRandom(17);
  const place: Record<string, NodeName> = { "t/1": "a", "t/2": "b" };
  const outcomes: string[] = [];
  for (let round = 0; round < SIZE.rounds; round++) {
    for (const prefix of ["t/1", "t/2"]) {
      const from = place[prefix]!;
      const others = NODES.filter((name) => name !== from);
      const to = others[Math.floor(random() * others.length)]!;
      // Kill one of the two while the scope moves, at a moment that nothing determines.
      const victim = random() < 0.5 ? from : to;
      const moving = cluster.move(`m${round}${prefix.slice(2)}`, { prefix, to, at: from });
      await new Promise((resolve) => setTimeout(resolve, random() * 30));
      await cluster.killNode(victim);
      if (round === 0) cluster.stepClock();
      await cluster.startNode(victim);
      const outcome = await moving;
      outcomes.push(outcome);
      if (outcome === "Committed") place[prefix] = to;
    }
  }
  return outcomes;
}

/** Kill c and declare it down: b takes t/3 over, and c stays out when it is back. */
async function takeOver(cluster: ServiceCluster): Promise<void> {
  await cluster.killNode("c");
  const said = await gossip(["scope", "down", "c", "--store", cluster.url("a")], { cwd: folder });
  expect([said.code, said.stdout]).toEqual([0, "t/3  taken over by b\n"]);
  await cluster.startNode("c");
  while ((await cluster.states()).get("b")?.owned.includes("t/3") !== true)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await cluster.states()).get("c")?.owned).not.toContain("t/3");
}

test(
  "nothing is lost, done twice or owned twice, while nodes are killed, scopes move and clocks are wrong",
  { timeout: 1_800_000 },
  async () => {
    await writeFile(join(folder, "items.txt"), items.map((item) => `${item}\n`).join(""));
    const cluster = new ServiceCluster(folder, () => server.url);
    let watch: ClusterWatch | undefined;
    let typescript: GossipProcess | undefined;
    try {
      await cluster.start({ hasFallback: true });
      watch = new ClusterWatch(cluster);
      await createRun(cluster);
      typescript = await startTypeScript(cluster, "b");
      // A service that is down when the command begins is reported at once. Only then is it waited for.
      await typescript.said(/^Run [0-9a-f]{16}: /m);
      const python = hasPython ? [startPython(cluster, "a"), startPython(cluster, "c")] : [];
      const outcomes = await disturb(cluster);
      expect(outcomes).toHaveLength(2 * SIZE.rounds);

      const { code, stderr } = await typescript.ended;
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      for (const ended of python) expect(await ended).toEqual({ code: 0, stderr: "" });
      await takeOver(cluster);
      await watch.stop();
      expect(watch.problems).toEqual([]);
      expect(watch.timestamps.length).toBeGreaterThan(10);

      const lines = (await readFile(join(folder, "typescript.ndjson"), "utf8")).trim().split("\n");
      const done = lines.map((line) => (JSON.parse(line) as { line: string }).line).sort();
      expect(done).toEqual(items);
      if (hasPython) {
        const results = (await readFile(join(folder, "python.txt"), "utf8")).trim().split("\n");
        expect(results.map((line) => line.split("\t")[0]!).sort()).toEqual(items);
      }
      // Each move ended one way, by every journal, and each scope has one owner.
      for (const [id, ends] of cluster.decisions()) expect([id, ends.size]).toEqual([id, 1]);
      const owned = [...(await cluster.states()).values()].flatMap(({ owned: prefixes }) => prefixes);
      expect(owned.sort()).toEqual(["t/1", "t/2", "t/3"]);
    } finally {
      // The workers in Python give up by themselves once no node answers.
      await typescript?.kill();
      await watch?.stop();
      await cluster.stop();
    }
  },
);
