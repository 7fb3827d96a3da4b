// The protocol must be simple enough for a shell script. This one is run as it stands.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { GossipServer } from "@gossip/server";
import { unwrap } from "@gossip/stdx";
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const isThere = (program: string) => spawnSync(program, ["--version"]).status === 0;
const SKIPPED = isThere("curl") && isThere("jq") ? undefined : "curl or jq is not installed";
if (SKIPPED !== undefined) console.warn(`shell-worker: skipped, because ${SKIPPED}`);

const SCRIPT = join(import.meta.dirname, "worker.sh");
const RUN = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const words = ["ant", "bee", "cat", "dog", "eel", "fox"];
const bytes = (text: string) => new TextEncoder().encode(text);

test("the script is short", async () => {
  const lines = (await readFile(SCRIPT, "utf8")).split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  expect(lines.length).toBeLessThan(40);
});

test.skipIf(SKIPPED !== undefined)(
  "it works through a run",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "gossip-shell-"));
    await writeFile(join(folder, "words.txt"), words.map((word) => `${word}\n`).join(""));
    const clock = systemClock(Date.now);
    const coordinator = new Coordinator({ store: new MemoryStore(), clock });
    const server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 } }));
    try {
      const shards = [
        ["a", "d"],
        ["d", "z"],
      ].map(([start, end], index) => ({
        shard: ShardId.fromRaw(BigInt(index)),
        spec: ShardSpec.withRange({ start: bytes(start!), end: bytes(end!) }),
        cursor: Cursor.initial(),
      }));
      const config = { leaseDuration: 60_000n };
      unwrap(await coordinator.createRunWithShards({ ...RUN, config, shards, opId: OpId.fromRaw(1n) }));
      const env = { ...process.env, GOSSIP_URL: server.url, GOSSIP_TENANT: RUN.tenant };
      const { stdout } = await promisify(execFile)("sh", [SCRIPT, "0000000000000001", "words.txt"], {
        cwd: folder,
        env,
      });
      expect(stdout.trim().split("\n").sort()).toEqual(words.map((word) => `did ${word}`));
      expect(unwrap(await coordinator.getRunProgress(RUN))).toMatchObject({ active: 0, done: 2 });
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
  60_000,
);
