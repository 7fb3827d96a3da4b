// The protocol must be usable without our client. This worker has nothing but Python's standard library, and is killed.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { GossipServer } from "@gossip/server";
import { unwrap } from "@gossip/stdx";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

const SKIPPED = spawnSync("python3", ["--version"]).status === 0 ? undefined : "python3 is not installed";
if (SKIPPED !== undefined) console.warn(`python-worker: skipped, because ${SKIPPED}`);

const RUN = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const words = Array.from({ length: 200 }, (_, index) => `w${String(index).padStart(4, "0")}`);
const bytes = (text: string) => new TextEncoder().encode(text);

async function world() {
  const folder = await mkdtemp(join(tmpdir(), "gossip-python-"));
  await writeFile(join(folder, "words.txt"), words.map((word) => `${word}\n`).join(""));
  const clock = systemClock(Date.now);
  const coordinator = new Coordinator({ store: new MemoryStore(), clock, shardCopies: 100 });
  const server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 } }));
  const spec = ShardSpec.withRange({ start: bytes("w"), end: bytes("x") });
  const shards = [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }];
  const config = { leaseDuration: 1_500n };
  unwrap(await coordinator.createRunWithShards({ ...RUN, config, shards, opId: OpId.fromRaw(1n) }));
  return { folder, coordinator, server };
}

function start(url: string, folder: string, pauseMs: number) {
  const args = ["--url", url, "--run", "0000000000000001", "--tenant", RUN.tenant, "--items", "words.txt"];
  const more = ["--out", "results.txt", "--every", "5", "--pause-ms", String(pauseMs)];
  const script = join(import.meta.dirname, "worker.py");
  return spawn("python3", [script, ...args, ...more], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
}

test.skipIf(SKIPPED !== undefined)(
  "workers share a run, one is killed, and every item is done",
  async () => {
    const { folder, coordinator, server } = await world();
    try {
      // The first worker is killed once it has stored something.
      const first = start(server.url, folder, 5);
      for await (const line of createInterface({ input: first.stdout })) if (line.startsWith("checkpoint")) break;
      first.kill("SIGKILL");
      await once(first, "exit");

      const others = [start(server.url, folder, 5), start(server.url, folder, 5)];
      for (const other of others) other.stdout.resume();
      const codes = await Promise.all(others.map(async (other) => (await once(other, "exit"))[0] as number));
      expect(codes).toEqual([0, 0]);

      const progress = unwrap(await coordinator.getRunProgress(RUN));
      expect(progress).toMatchObject({ active: 0, parked: 0 });
      // One shard was registered: the others come from splits that the server asked for.
      expect(progress.total).toBeGreaterThan(1);
      const lines = (await readFile(join(folder, "results.txt"), "utf8")).trim().split("\n");
      const done = new Set(lines.map((line) => line.split("\t").slice(0, 2).join(" ")));
      expect([...done].sort()).toEqual(words.map((word) => `${word} ${word.toUpperCase()}`));
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
  60_000,
);
