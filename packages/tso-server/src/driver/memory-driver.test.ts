// The memory driver stands in for real ones in every test of the server. Where it kept less than
// the contract, those tests would prove nothing about a server on a real store.
import { unwrap } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { describe, expect, test } from "vitest";
import { describeConsensusDriver } from "../testing/describe-consensus-driver.ts";
import { turnEventLoop } from "../testing/manual-time.ts";
import { leaderAt, type LeaderState } from "./leader-state.ts";
import { MemoryDriver, MemoryHighWater } from "./memory-driver.ts";
import { PeerEndpoint } from "./peer-endpoint.ts";

describeConsensusDriver(
  "MemoryDriver",
  () => {
    const store = new MemoryHighWater();
    return Promise.resolve({
      open: () => Promise.resolve(new MemoryDriver({ store })),
      dispose: () => Promise.resolve(),
    });
  },
  { describe, test },
);

describe("MemoryDriver", () => {
  test("L3 every change of payload is an event; saying the same again is none", async () => {
    const driver = new MemoryDriver();
    const events = driver.leadershipEvents()[Symbol.asyncIterator]();
    const heard: LeaderState[] = [];
    const told: LeaderState[] = [
      leaderAt(1n),
      leaderAt(2n),
      { kind: "Follower" },
      { kind: "Follower", leaderEpoch: Epoch.fromRaw(3n) },
      { kind: "Follower", leaderEpoch: Epoch.fromRaw(3n), leaderEndpoint: unwrap(PeerEndpoint.parse("a:1")) },
      { kind: "Unknown" },
    ];
    for (const state of told) {
      driver.setLeadership(state);
      driver.setLeadership(state);
      heard.push((await events.next()).value);
    }
    expect(heard).toEqual(told);

    let isMore = false;
    void events.next().then(() => (isMore = true));
    driver.setLeadership({ kind: "Unknown" });
    await turnEventLoop();
    expect(isMore).toBe(false);
  });

  test("a reader that is behind sees the newest state only", async () => {
    const driver = new MemoryDriver();
    const events = driver.leadershipEvents()[Symbol.asyncIterator]();
    driver.setLeadership({ kind: "Unknown" });
    driver.setLeadership(leaderAt(5n));
    expect((await events.next()).value).toEqual(leaderAt(5n));
  });

  test("a reader that stops is forgotten", async () => {
    const driver = new MemoryDriver();
    for await (const state of driver.leadershipEvents()) {
      expect(state.kind).toBe("Leader");
      break;
    }
    driver.setLeadership({ kind: "Unknown" });
    await driver.close();
  });

  test("a stale epoch is fenced off", async () => {
    const driver = new MemoryDriver({ leadership: leaderAt(4n) });
    expect(await driver.persistHighWater(9, Epoch.fromRaw(3n))).toEqual({
      ok: false,
      error: { kind: "Fenced", expected: 3n, current: 4n },
    });
    driver.setLeadership({ kind: "Unknown" });
    expect(await driver.persistHighWater(9, Epoch.fromRaw(4n))).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(driver.highWaterMs).toBe(0);
  });
});
