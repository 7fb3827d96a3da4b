// An item that kills its process used to take 51 crashes, and then its whole shard with it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator, systemClock, type ItemFailure } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";

const COUNT = 300;
const MAX_CRASHES = 4;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-poison-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: COUNT }, (_, n) => `${n}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

async function ledger(): Promise<readonly ItemFailure[]> {
  const store = unwrap(await openLmdbStore({ path: join(folder, "store") }));
  try {
    const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
    const { items: runs } = unwrap(await coordinator.listRuns({ tenant: TenantId.ZERO }));
    return unwrap(await coordinator.listFailures({ tenant: TenantId.ZERO, run: runs[0]!.run })).items;
  } finally {
    await store.close();
  }
}

describe("an item that kills its process", () => {
  test.each([
    ["process.exit", "process.exit(77)"],
    ["SIGKILL", 'process.kill(process.pid, "SIGKILL"); for (;;);'],
  ])("by %s is set aside, alone, after a few crashes; all others are done once", async (_name, die) => {
    writeFileSync(
      join(folder, "job.mjs"),
      `export default async ({ line }) => { await null; if (line === "123") { ${die} } return Number(line); };`,
    );
    const args = ["run", "--source", "lines:rows", "--module", "./job.mjs", "--out", "out.ndjson", "--store", "store"];
    let crashes = 0;
    for (;;) {
      const { code, stderr } = await gossip([...args, "--workers", "2", "--shards", "4", "--lease", "1"], {
        cwd: folder,
      });
      if (code === 3) {
        expect(stderr).toMatch(/300 items.*1 of them failed/);
        break;
      }
      crashes++;
      expect([crashes <= MAX_CRASHES, code === 77 || code === null]).toEqual([true, true]);
    }
    expect(crashes).toBeGreaterThanOrEqual(3);
    expect(await ledger()).toMatchObject([{ reason: "Crashed", attempts: 3 }]);
    const results = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { ok: boolean; result?: number });
    expect(results.filter(({ ok }) => ok).map(({ result }) => result)).toEqual(
      Array.from({ length: COUNT }, (_, n) => n).filter((n) => n !== 123),
    );
    expect(results).toHaveLength(COUNT);
  });
});
