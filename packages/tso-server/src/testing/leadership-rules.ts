import { strict as assert } from "node:assert";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { presentState, rule, untilLeader, type DriverRule } from "./driver-fixture.ts";

/** Rules about leadership for every driver. The keys are the names of the tests. */
export const LEADERSHIP_RULES: Readonly<Record<string, DriverRule>> = {
  "L1 L2 the first event comes without any transition, whatever the state is": rule([], async (fixture) => {
    const driver = await fixture.open();
    const state = await presentState(driver);
    assert.ok(["Leader", "Follower", "Unknown"].includes(state.kind));
    await driver.close();
  }),

  "L3 becoming leader is an event": rule([], async (fixture) => {
    const driver = await fixture.open();
    assert.equal(typeof (await untilLeader(driver)), "bigint");
    assert.equal((await presentState(driver)).kind, "Leader");
    await driver.close();
  }),

  "L4 a later leadership has no lower epoch": rule([], async (fixture) => {
    const first = await fixture.open();
    const before = await untilLeader(first);
    await first.close();
    const second = await fixture.open();
    assert.ok((await untilLeader(second)) >= before);
    await second.close();
  }),

  "L5 a follower names the leader by a bare endpoint, or not at all": rule(["openFollower"], async (fixture) => {
    const leader = await fixture.open();
    await untilLeader(leader);
    const follower = await fixture.openFollower();
    for await (const state of follower.leadershipEvents()) {
      if (state.kind === "Unknown") continue;
      assert.equal(state.kind, "Follower");
      assert.ok(state.leaderEndpoint === undefined || PeerEndpoint.parse(state.leaderEndpoint).ok);
      break;
    }
    await follower.close();
    await leader.close();
  }),

  "L6 the stream stays open as long as the driver, and ends with it": rule([], async (fixture) => {
    const driver = await fixture.open();
    await untilLeader(driver);
    const events = driver.leadershipEvents()[Symbol.asyncIterator]();
    await events.next();
    let isOver = false;
    const over = (async () => {
      while (!((await events.next()).done ?? false));
      isOver = true;
    })();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    await driver.close();
    await over;
  }),

  "L7 a second reader is served, or told at once that it is not": rule([], async (fixture) => {
    const driver = await fixture.open();
    await untilLeader(driver);
    const first = driver.leadershipEvents()[Symbol.asyncIterator]();
    const second = driver.leadershipEvents()[Symbol.asyncIterator]();
    assert.equal((await first.next()).done ?? false, false);
    const event = await second.next();
    assert.ok((event.done ?? false) || event.value.kind === "Leader");
    await driver.close();
  }),

  "a leadership says until when it may serve": rule([], async (fixture) => {
    const driver = await fixture.open();
    await untilLeader(driver);
    const state = await presentState(driver);
    assert.ok(state.kind === "Leader" && state.servesUntilMs() > performance.now());
    await driver.close();
  }),
};
