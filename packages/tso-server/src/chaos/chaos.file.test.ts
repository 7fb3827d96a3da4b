// One server on a real disk, three clients. The server is killed, stopped, given wrong clocks and a disk that fails half way
// through a write or at the sync; it is started again on what is left. No client may see time go back.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Bundle } from "../processes/bundle.fixture.ts";
import { ChaosFleet } from "./chaos-fleet.fixture.ts";
import { CHAOS_SECONDS, CLOCK_BLOWS, runChaos, type Blow } from "./chaos-run.fixture.ts";

const PATIENCE_MS = 120_000 + CHAOS_SECONDS * 2000;

let bundles: { server: Bundle; client: Bundle };
let folder: string;
let fleet: ChaosFleet | undefined;
beforeAll(async () => {
  const [server, client] = await Promise.all(
    ["./chaos-server.fixture.ts", "./chaos-client.fixture.ts"].map((file) => Bundle.of(new URL(file, import.meta.url))),
  );
  bundles = { server: server!, client: client! };
});
afterAll(() => Promise.all([bundles.server.dispose(), bundles.client.dispose()]));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tso-chaos-"));
});
afterEach(async () => {
  await fleet?.dispose();
  fleet = undefined;
  await rm(folder, { recursive: true, force: true });
});

const breakDisk =
  (at: "write" | "datasync"): Blow =>
  async (given) => {
    const node = await given.leader();
    node.tamper({ breakDisk: at });
    expect((await node.process.exited).code).toBe(1);
    node.restart();
    given.noteStart();
  };

const BLOWS: Readonly<Record<string, Blow>> = {
  ...CLOCK_BLOWS,
  "kill the server": async (given) => {
    const node = await given.leader();
    await node.process.kill();
    node.restart();
    given.noteStart();
  },
  "tell the server to go": async (given) => {
    const node = await given.leader();
    node.process.signal("SIGTERM");
    expect((await node.process.exited).code).toBe(0);
    node.restart();
    given.noteStart();
  },
  "stop the server for a while": async (given) => {
    const node = await given.leader();
    node.process.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 400));
    node.process.signal("SIGCONT");
  },
  "break the disk half way through a write": breakDisk("write"),
  "break the disk at a sync": breakDisk("datasync"),
};

describe("chaos on a disk", { timeout: PATIENCE_MS }, () => {
  test("no client ever sees time go back", async () => {
    const store = { kind: "file", directory: join(folder, "data") } as const;
    fleet = await ChaosFleet.start({
      ...bundles,
      folder,
      store,
      servers: 1,
      windowAheadMs: 300,
      attemptMs: [200, 500, 1000],
    });
    const report = await runChaos("one server on a disk", fleet, BLOWS);
    expect(report.violations).toEqual([]);
    expect(report.failovers).toBeGreaterThanOrEqual(4);
  });
});
