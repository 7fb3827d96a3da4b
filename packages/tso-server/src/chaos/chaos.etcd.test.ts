// Three servers on a real etcd, four clients, and everything that happens to servers: they are killed, stopped past their lease and
// woken again, told to go, given wrong clocks, and etcd itself is killed. Whatever one client had received before another
// asked must be smaller than what the other got. And a server that ignores its deadline must be found out.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EtcdServer } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { requireEtcd, startTestEtcd } from "../etcd/test-etcd.fixture.ts";
import { Bundle } from "../processes/bundle.fixture.ts";
import { ChaosFleet } from "./chaos-fleet.fixture.ts";
import { CHAOS_SECONDS, CLOCK_BLOWS, runChaos, type Blow } from "./chaos-run.fixture.ts";

const PATIENCE_MS = 120_000 + CHAOS_SECONDS * 2000;

let bundles: { server: Bundle; client: Bundle };
let folder: string;
let etcd: EtcdServer | undefined;
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
  await etcd?.dispose();
  fleet = undefined;
  etcd = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(ignoresDeadline: boolean): Promise<ChaosFleet> {
  etcd = (await startTestEtcd())!;
  const store = { kind: "etcd", endpoint: etcd.endpoint } as const;
  // The first client turns away from a stopped leader at once, the last hangs on to it until it wakes. The window outlasts the
  // stop: a leader that woke with nothing left to grant would prove nothing.
  const windowAheadMs = 10_000;
  fleet = await ChaosFleet.start({
    ...bundles,
    folder,
    store,
    servers: 3,
    windowAheadMs,
    ignoresDeadline,
    attemptMs: [200, 500, 1000, 4000],
  });
  return fleet;
}

const BLOWS: Readonly<Record<string, Blow>> = {
  ...CLOCK_BLOWS,
  "kill the leader": async (given) => {
    const leader = await given.leader();
    await leader.process.kill();
    await given.leader([leader]);
    leader.restart();
  },
  "stop the leader past its lease": stopLeader,
  "tell the leader to go": async (given) => {
    const leader = await given.leader();
    leader.process.signal("SIGTERM");
    expect((await leader.process.exited).code).toBe(0);
    await given.leader([leader]);
    leader.restart();
  },
  "kill etcd": async () => {
    await etcd!.kill();
    await etcd!.restart();
  },
};

async function stopLeader(given: ChaosFleet): Promise<void> {
  const stopped = await given.leader();
  stopped.process.signal("SIGSTOP");
  const next = await given.leader([stopped]);
  expect(next).not.toBe(stopped);
  // On a busy machine it may have lost its lease, and said so, just before it was stopped.
  const wasServing = stopped.isServing;
  const said = stopped.process.lines.length;
  // Some clients have moved on; others still wait at the stopped leader, with requests in its socket.
  await new Promise((resolve) => setTimeout(resolve, 300));
  stopped.process.signal("SIGCONT");
  if (wasServing) await stopped.process.line("idle", said);
}

describe("chaos on etcd", { timeout: PATIENCE_MS }, () => {
  test("nobody ever sees time go back", async (context) => {
    requireEtcd(context);
    const report = await runChaos("three servers on etcd", await start(false), BLOWS);
    expect(report.violations).toEqual([]);
    expect(report.failovers).toBeGreaterThanOrEqual(3);
  });

  test("a server that ignores its deadline is found out", async (context) => {
    requireEtcd(context);
    const given = await start(true);
    await given.leader();
    await given.progress(20);
    // Chance decides whether a client asks a woken leader before it hears that it was deposed: as often as it takes.
    let found = 0;
    for (let round = 0; found === 0 && round < 20; round++) {
      await stopLeader(given);
      found = (await given.violations()).length;
    }
    console.log(`chaos, a server that ignores its deadline: violations ${found} (expected: at least one)`);
    expect(found).toBeGreaterThan(0);
  });
});
