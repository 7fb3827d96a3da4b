import { strict as assert } from "node:assert";
import { unwrap } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { rule, untilLeader, type DriverRule } from "./driver-fixture.ts";

/** What a driver with several nodes does. The keys are the names of the tests. */
export const REPLICATION_RULES: Readonly<Record<string, DriverRule>> = {
  "Q1 Q3 a follower's load sees every write that the leader had acknowledged": rule(
    ["openFollower"],
    async (fixture) => {
      const leader = await fixture.open();
      const epoch = await untilLeader(leader);
      const follower = await fixture.openFollower();
      for (const bound of [10, 20, 30]) {
        assert.equal(unwrap(await leader.persistHighWater(bound, epoch)), bound);
        assert.equal(unwrap(await follower.loadHighWater()), bound);
      }
      await follower.close();
      await leader.close();
    },
  ),

  "Q2 Q7 a follower, and a leader of another epoch, cannot raise the bound": rule(["openFollower"], async (fixture) => {
    const leader = await fixture.open();
    const epoch = await untilLeader(leader);
    const follower = await fixture.openFollower();
    for (const [driver, stale] of [
      [follower, Epoch.fromRaw(epoch + 1n)],
      [follower, Epoch.fromRaw(epoch - 1n)],
      [leader, Epoch.fromRaw(epoch - 1n)],
    ] as const) {
      const refused = await driver.persistHighWater(99_999, stale);
      assert.ok(!refused.ok && (refused.error.kind === "NotLeader" || refused.error.kind === "Fenced"));
    }
    assert.equal(unwrap(await leader.loadHighWater()), 0);
    await follower.close();
    await leader.close();
  }),

  "Q8 the next leader loads everything the last one had acknowledged, and has a greater epoch": rule(
    ["openFollower"],
    async (fixture) => {
      const first = await fixture.open();
      const before = await untilLeader(first);
      const second = await fixture.openFollower();
      assert.equal(unwrap(await first.persistHighWater(1234, before)), 1234);
      await first.close();
      const after = await untilLeader(second);
      assert.ok(after > before);
      assert.equal(unwrap(await second.loadHighWater()), 1234);
      const stale = await second.persistHighWater(5000, before);
      assert.ok(!stale.ok && (stale.error.kind === "NotLeader" || stale.error.kind === "Fenced"));
      assert.equal(unwrap(await second.loadHighWater()), 1234);
      await second.close();
    },
  ),

  "Q8 also where the last one crashed": rule(["openFollower", "crash"], async (fixture) => {
    const first = await fixture.open();
    const before = await untilLeader(first);
    const second = await fixture.openFollower();
    assert.equal(unwrap(await first.persistHighWater(4321, before)), 4321);
    await fixture.crash(first);
    assert.ok((await untilLeader(second)) > before);
    assert.equal(unwrap(await second.loadHighWater()), 4321);
    await second.close();
  }),
};
