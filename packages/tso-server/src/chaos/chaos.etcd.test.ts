// Three servers on a real etcd, four clients, and everything that happens to servers: they are killed, stopped past their lease and
// woken again, told to go, given wrong clocks, and etcd itself is killed. Whatever one client had received before another
// asked must be smaller than what the other got. And the checker must catch a server that ignores its deadline.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import type { EtcdServer } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { requireEtcd, startTestEtcd } from "../etcd/test-etcd.fixture.ts";
import { Bundle } from "../processes/bundle.fixture.ts";
import { findOrderViolations, type IssueRecord, type OrderViolation } from "../testing/interval-order.ts";
import { ChaosFleet, type ChaosNode, type FleetOptions } from "./chaos-fleet.fixture.ts";
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

async function start(
  options: Pick<FleetOptions, "ignoresDeadline" | "windowAheadMs" | "attemptMs">,
): Promise<ChaosFleet> {
  etcd = (await startTestEtcd())!;
  const store = { kind: "etcd", endpoint: etcd.endpoint } as const;
  fleet = await ChaosFleet.start({ ...bundles, folder, store, servers: 3, ...options });
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
  test("no client ever sees time go back", async (context) => {
    requireEtcd(context);
    // The first client turns away from a stopped leader at once, the last hangs on to it until it wakes. The window
    // outlasts the stop: a leader that woke with nothing left to grant would prove nothing.
    const given = await start({ ignoresDeadline: false, windowAheadMs: 10_000, attemptMs: [200, 500, 1000, 4000] });
    const report = await runChaos("three servers on etcd", given, BLOWS);
    expect(report.violations).toEqual([]);
    expect(report.failovers).toBeGreaterThanOrEqual(3);
  });

  test("a server that ignores its deadline is found out", async (context) => {
    requireEtcd(context);
    expect(await deposeAndAsk(await startWithHours({ ignoresDeadline: true }))).toHaveLength(1);
  });

  test("a server that heeds its deadline is not", async (context) => {
    requireEtcd(context);
    expect(await deposeAndAsk(await startWithHours({ ignoresDeadline: false }))).toEqual([]);
  });
});

/** A leader of this fleet has an hour of its window left when it wakes, however long the others take to replace it. */
function startWithHours({ ignoresDeadline }: { readonly ignoresDeadline: boolean }): Promise<ChaosFleet> {
  return start({ ignoresDeadline, windowAheadMs: 3_600_000, attemptMs: [] });
}

/** Stop the leader, get a timestamp from the next one, wake the first and ask it. */
async function deposeAndAsk(given: ChaosFleet): Promise<readonly OrderViolation[]> {
  const deposed = await given.leader();
  deposed.process.signal("SIGSTOP");
  const first = await askAt(await given.leader([deposed]));
  deposed.process.signal("SIGCONT");
  return findOrderViolations([first, await askAt(deposed)]);
}

/** One timestamp, asked for at this node first. A node that does not lead sends the client on. */
async function askAt({ port }: ChaosNode): Promise<IssueRecord> {
  const client = unwrap(
    TimestampClient.create({ endpoints: [`127.0.0.1:${port}`], retryPolicy: { attemptMs: 30_000, overallMs: 30_000 } }),
  );
  try {
    const sentAt = Number(process.hrtime.bigint());
    const timestamp = unwrap(await client.getTs());
    return { sentAt, receivedAt: Number(process.hrtime.bigint()), first: timestamp, last: timestamp };
  } finally {
    client.close();
  }
}
