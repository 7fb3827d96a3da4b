// Against a real etcd: two nodes must never both be able to raise the bound, and a new leader must not serve while the
// old one may still believe that it leads, whatever happens to links, leases, keys and etcd itself.
import { EtcdClient } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import type { EtcdServer } from "@gossip/tools/engines";
import { Epoch } from "@gossip/tso";
import { afterAll, afterEach, beforeAll, describe, expect, test, type TestContext } from "vitest";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { LeaderState } from "../driver/leader-state.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { CuttableLink } from "../etcd/cuttable-link.fixture.ts";
import { requireEtcd, startTestEtcd } from "../etcd/test-etcd.fixture.ts";
import { describeConsensusDriver } from "../testing/describe-consensus-driver.ts";
import { presentState, untilLeader, type DriverFixture } from "../testing/driver-fixture.ts";
import { systemTimers } from "../time/system-time.ts";
import { EtcdDriver } from "./etcd-driver.ts";

/** Longer than a busy machine keeps a process, or a disk etcd, waiting; and no longer, as some of these tests wait for its end. */
const LEASE_TTL_S = 5;
const REQUEST_TIMEOUT_MS = 5000;

let etcd: EtcdServer | undefined;
let prefixes = 0;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  etcd = await startTestEtcd();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await etcd?.dispose();
});

const freshPrefix = (): string => `test-${++prefixes}`;

function open(prefix: string, options: { readonly endpoint?: string; readonly advertise?: string } = {}): EtcdDriver {
  const driver = new EtcdDriver({
    endpoints: [options.endpoint ?? etcd!.endpoint],
    prefix,
    leaseTtlS: LEASE_TTL_S,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    ...(options.advertise === undefined ? {} : { advertise: unwrap(PeerEndpoint.parse(options.advertise)) }),
  });
  closing.push(() => driver.close());
  return driver;
}

async function linked(): Promise<CuttableLink> {
  const link = await CuttableLink.to(etcd!.endpoint);
  closing.push(() => link.close());
  return link;
}

async function untilState(driver: ConsensusDriver, condition: (state: LeaderState) => boolean): Promise<LeaderState> {
  for await (const state of driver.leadershipEvents()) if (condition(state)) return state;
  throw new Error("the stream of leadership events ended");
}

describeConsensusDriver(
  "EtcdDriver",
  async (): Promise<DriverFixture> => {
    const prefix = freshPrefix();
    const links = new Map<ConsensusDriver, CuttableLink>();
    const openLinked = async (): Promise<EtcdDriver> => {
      const link = await CuttableLink.to(etcd!.endpoint);
      const driver = open(prefix, { endpoint: link.endpoint, advertise: "node:50551" });
      links.set(driver, link);
      return driver;
    };
    return {
      open: openLinked,
      openFollower: openLinked,
      // To all other nodes, a node that is cut off has crashed.
      crash: (driver) => Promise.resolve(links.get(driver)!.cut()),
      dispose: async () => {
        for (const [driver, link] of links) {
          link.mend();
          await driver.close();
          await link.close();
        }
      },
    };
  },
  {
    describe,
    test: (name, body) =>
      test(name, async (context) => {
        requireEtcd(context);
        await body();
      }),
    can: ["openFollower", "crash"],
  },
);

describe("EtcdDriver", () => {
  const etcdTest = (name: string, body: (context: TestContext) => Promise<void>): void =>
    test(name, async (context) => {
      requireEtcd(context);
      await body(context);
    });

  etcdTest("of three nodes one leads, and the others say where it is", async () => {
    const prefix = freshPrefix();
    const drivers = ["a:1", "b:1", "c:1"].map((advertise) => open(prefix, { advertise }));
    const states = await Promise.all(drivers.map((driver) => untilState(driver, (state) => state.kind !== "Unknown")));
    const leader = states.findIndex((state) => state.kind === "Leader");
    expect(states.filter((state) => state.kind === "Leader").length).toBe(1);
    const { epoch } = states[leader] as Extract<LeaderState, { kind: "Leader" }>;
    for (const state of states) {
      if (state.kind === "Follower")
        expect(state).toEqual({ kind: "Follower", leaderEndpoint: ["a:1", "b:1", "c:1"][leader], leaderEpoch: epoch });
    }
  });

  etcdTest(
    "Q5 a leader that is cut off cannot persist and stops serving before another leads; mended, it follows",
    async () => {
      const prefix = freshPrefix();
      const link = await linked();
      const old = open(prefix, { endpoint: link.endpoint });
      const epoch = await untilLeader(old);
      const state = await presentState(old);
      const servesUntilMs = state.kind === "Leader" ? state.servesUntilMs : () => Number.NaN;
      expect(unwrap(await old.persistHighWater(100, epoch))).toBe(100);
      const next = open(prefix);
      await untilState(next, (each) => each.kind === "Follower");

      link.cut();
      const persisting = old.persistHighWater(200, epoch);
      const nextEpoch = await untilLeader(next);
      expect(servesUntilMs()).toBeLessThan(performance.now());
      expect(await persisting).toMatchObject({ ok: false, error: { kind: "TransientDriver" } });
      expect(nextEpoch).toBeGreaterThan(epoch);
      expect(unwrap(await next.loadHighWater())).toBe(100);
      expect(unwrap(await next.persistHighWater(300, nextEpoch))).toBe(300);

      link.mend();
      await untilState(old, (each) => each.kind === "Follower" && each.leaderEpoch === nextEpoch);
      expect(await old.persistHighWater(400, epoch)).toEqual({
        ok: false,
        error: { kind: "Fenced", expected: epoch, current: nextEpoch },
      });
      expect(unwrap(await old.loadHighWater())).toBe(300);
    },
  );

  etcdTest("a leader key removed by hand does not let another serve before the old one's time is up", async () => {
    const prefix = freshPrefix();
    const link = await linked();
    const old = open(prefix, { endpoint: link.endpoint });
    const epoch = await untilLeader(old);
    const state = await presentState(old);
    const servesUntilMs = state.kind === "Leader" ? state.servesUntilMs : () => Number.NaN;
    expect(unwrap(await old.persistHighWater(100, epoch))).toBe(100);
    const next = open(prefix);
    await untilState(next, (each) => each.kind === "Follower");

    // The old leader does not learn of it; etcd's lease, meanwhile, is as good as ever.
    link.cut();
    const operator = new EtcdClient({
      endpoints: [etcd!.endpoint],
      timers: systemTimers,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    expect((await operator.txn({ compare: [], success: [{ delete: `${prefix}/leader` }], failure: [] })).ok).toBe(true);
    operator.close();
    await untilLeader(next);
    expect(servesUntilMs()).toBeLessThan(performance.now());
  });

  etcdTest("a leader whose key is removed under its eyes steps down at once", async () => {
    const prefix = freshPrefix();
    const driver = open(prefix);
    const epoch = await untilLeader(driver);
    const state = await presentState(driver);
    const operator = new EtcdClient({
      endpoints: [etcd!.endpoint],
      timers: systemTimers,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    expect((await operator.txn({ compare: [], success: [{ delete: `${prefix}/leader` }], failure: [] })).ok).toBe(true);
    operator.close();
    await untilState(driver, (each) => each.kind !== "Leader" || each.epoch !== epoch);
    expect(state.kind === "Leader" && state.servesUntilMs()).toBeLessThan(performance.now());
    expect(await untilLeader(driver)).toBeGreaterThan(epoch);
  });

  etcdTest("a node that resigns is followed at once, not when its lease runs out", async () => {
    const prefix = freshPrefix();
    // An hour: where the lease had to run out, this test would not end.
    const [first, second] = [0, 1].map(() => {
      const driver = new EtcdDriver({ endpoints: [etcd!.endpoint], prefix, leaseTtlS: 3600 });
      closing.push(() => driver.close());
      return driver;
    }) as [EtcdDriver, EtcdDriver];
    const states = await Promise.all(
      [first, second].map((driver) => untilState(driver, (state) => state.kind !== "Unknown")),
    );
    const [leader, follower] = states[0]!.kind === "Leader" ? [first, second] : [second, first];
    await leader.close();
    await untilLeader(follower);
  });

  etcdTest("a high-water key that holds no bound is an error that does not pass", async () => {
    const prefix = freshPrefix();
    const operator = new EtcdClient({
      endpoints: [etcd!.endpoint],
      timers: systemTimers,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    expect(
      (await operator.txn({ compare: [], success: [{ put: `${prefix}/high-water`, value: "zzz" }], failure: [] })).ok,
    ).toBe(true);
    operator.close();
    const driver = open(prefix);
    const epoch = await untilLeader(driver);
    expect(await driver.loadHighWater()).toMatchObject({ ok: false, error: { kind: "PermanentDriver" } });
    expect(await driver.persistHighWater(5, epoch)).toMatchObject({ ok: false, error: { kind: "PermanentDriver" } });
  });

  etcdTest("Q6 etcd itself may be killed and restarted: the bound is there and a node leads again", async () => {
    const own = (await startTestEtcd())!;
    closing.push(() => own.dispose());
    const driver = open("restart", { endpoint: own.endpoint });
    const epoch = await untilLeader(driver);
    expect(unwrap(await driver.persistHighWater(5000, epoch))).toBe(5000);
    await own.kill();
    expect(await driver.persistHighWater(6000, epoch)).toMatchObject({ ok: false, error: { kind: "TransientDriver" } });
    await own.restart();
    const again = await untilLeader(driver);
    expect(again).toBeGreaterThanOrEqual(epoch);
    expect(unwrap(await driver.loadHighWater())).toBe(5000);
    expect(unwrap(await driver.persistHighWater(6000, again))).toBe(6000);
  });

  etcdTest("without any etcd it says Unknown and fails transiently, and closes", async () => {
    const driver = open("nowhere", { endpoint: "http://127.0.0.1:1" });
    expect(await presentState(driver)).toEqual({ kind: "Unknown" });
    expect(await driver.loadHighWater()).toMatchObject({
      ok: false,
      error: { kind: "TransientDriver", reason: "etcd: ECONNREFUSED" },
    });
    expect(await driver.persistHighWater(5, Epoch.fromRaw(1n))).toMatchObject({
      ok: false,
      error: { kind: "TransientDriver" },
    });
    await driver.close();
  });

  etcdTest("a member that is down is passed over", async () => {
    const driver = new EtcdDriver({
      endpoints: ["http://127.0.0.1:1", etcd!.endpoint],
      prefix: freshPrefix(),
      leaseTtlS: LEASE_TTL_S,
    });
    closing.push(() => driver.close());
    expect(typeof (await untilLeader(driver))).toBe("bigint");
  });
});
