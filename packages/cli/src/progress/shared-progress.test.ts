// Another process that shows a run, or starts it again, must show the same progress as the process that works on it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

const ROWS = 2000;
let folder: string;
let running: GossipProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-shared-progress-"));
  // Most lines are at the end: half of the bytes are the first hundred lines.
  const line = (index: number): string => `${index} ${"x".repeat(index < 100 ? 190 : 0)}\n`;
  writeFileSync(join(folder, "rows"), Array.from({ length: ROWS }, (_, index) => line(index)).join(""));
  writeFileSync(
    join(folder, "job.mjs"),
    `import { existsSync } from "node:fs";
    export default async ({ line }) => {
      while (Number.parseInt(line) >= 600 && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
    };`,
  );
});
afterEach(async () => {
  await running?.kill();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

test("status in another process has the fraction of the items, and a second process too", async () => {
  const RUN = ["run", "--source", "lines:rows", "--module", "./job.mjs", "--workers", "64", "--shards", "64", "--json"];
  running = await startGossip(RUN, { cwd: folder });
  interface Status {
    readonly items: number;
    readonly fraction?: number;
  }
  const status = async (): Promise<Status> =>
    JSON.parse((await gossip(["status", "--json"], { cwd: folder })).stdout) as Status;
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ items: 600, fraction: expect.any(Number) });
  expect(Math.abs((await status()).fraction! - 600 / ROWS)).toBeLessThan(0.05);

  // The second process does nothing but wait, and shows the same.
  const second = await startGossip(RUN, { cwd: folder });
  expect(await second.heard(/"kind":"progress".*"items":600,.*"fraction":0\.(?:2[5-9]|3[0-4])/)).toBe(true);
  writeFileSync(join(folder, "go"), "");
  expect([(await running.ended).code, (await second.ended).code]).toEqual([0, 0]);
}, 180_000);
