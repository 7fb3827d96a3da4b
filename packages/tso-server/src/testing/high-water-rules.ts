import { strict as assert } from "node:assert";
import { unwrap } from "@gossip/stdx";
import { PHYSICAL_MS_MAX } from "@gossip/tso";
import { rule, untilLeader, type DriverRule } from "./driver-fixture.ts";

/** What every driver does with the bound. The keys are the names of the tests. */
export const HIGH_WATER_RULES: Readonly<Record<string, DriverRule>> = {
  "P1 a fresh store holds 0": rule([], async (fixture) => {
    const driver = await fixture.open();
    await untilLeader(driver);
    assert.equal(unwrap(await driver.loadHighWater()), 0);
    await driver.close();
  }),

  "P2 P3 P7 a persist answers with the greater of asked and stored, and a load sees it": rule([], async (fixture) => {
    const driver = await fixture.open();
    const epoch = await untilLeader(driver);
    for (const [asked, stored] of [
      [5000, 5000],
      [4000, 5000],
      [5000, 5000],
      [0, 5000],
      [5001, 5001],
    ] as const) {
      assert.equal(unwrap(await driver.persistHighWater(asked, epoch)), stored);
      assert.equal(unwrap(await driver.loadHighWater()), stored);
    }
    await driver.close();
  }),

  "P4 the bound is durable when the promise resolves: it survives a close": rule([], async (fixture) => {
    const first = await fixture.open();
    const epoch = await untilLeader(first);
    assert.equal(unwrap(await first.persistHighWater(7777, epoch)), 7777);
    await first.close();
    const second = await fixture.open();
    await untilLeader(second);
    assert.equal(unwrap(await second.loadHighWater()), 7777);
    await second.close();
  }),

  "P4 and a crash": rule(["crash"], async (fixture) => {
    const first = await fixture.open();
    const epoch = await untilLeader(first);
    assert.equal(unwrap(await first.persistHighWater(8888, epoch)), 8888);
    await fixture.crash(first);
    const second = await fixture.open();
    await untilLeader(second);
    assert.equal(unwrap(await second.loadHighWater()), 8888);
    await second.close();
  }),

  "P5 concurrent persists end at the greatest; none answers below what it asked or what was answered before": rule(
    [],
    async (fixture) => {
      const driver = await fixture.open();
      const epoch = await untilLeader(driver);
      // All of 1000 to 1063, out of order: 37 has no divisor in common with 64.
      const asked = Array.from({ length: 64 }, (_, index) => 1000 + ((index * 37) % 64));
      let greatest = 0;
      await Promise.all(
        asked.map(async (atLeastMs) => {
          const answered = unwrap(await driver.persistHighWater(atLeastMs, epoch));
          assert.ok(answered >= atLeastMs);
          assert.ok(answered >= greatest);
          greatest = answered;
        }),
      );
      assert.equal(unwrap(await driver.loadHighWater()), 1063);
      await driver.close();
    },
  ),

  "P6 a bound outside 46 bits is refused and nothing is stored; the last one inside is accepted": rule(
    [],
    async (fixture) => {
      const driver = await fixture.open();
      const epoch = await untilLeader(driver);
      for (const physicalMs of [PHYSICAL_MS_MAX + 1, Number.MAX_SAFE_INTEGER, -1, 0.5, Number.NaN]) {
        const refused = await driver.persistHighWater(physicalMs, epoch);
        assert.deepEqual(refused, { ok: false, error: { kind: "AdvanceOutOfRange", physicalMs } });
      }
      assert.equal(unwrap(await driver.loadHighWater()), 0);
      assert.equal(unwrap(await driver.persistHighWater(PHYSICAL_MS_MAX, epoch)), PHYSICAL_MS_MAX);
      assert.equal(unwrap(await driver.loadHighWater()), PHYSICAL_MS_MAX);
      await driver.close();
    },
  ),

  "P7 a load does not wait for a persist that is under way, and never sees less than was acknowledged": rule(
    [],
    async (fixture) => {
      const driver = await fixture.open();
      const epoch = await untilLeader(driver);
      assert.equal(unwrap(await driver.persistHighWater(100, epoch)), 100);
      const underway = driver.persistHighWater(200, epoch);
      const seen = unwrap(await driver.loadHighWater());
      assert.ok(seen === 100 || seen === 200);
      assert.equal(unwrap(await underway), 200);
      await driver.close();
    },
  ),

  "P8 a persist that no caller waits for cannot lower the bound, and may apply late": rule([], async (fixture) => {
    const driver = await fixture.open();
    const epoch = await untilLeader(driver);
    void driver.persistHighWater(300, epoch);
    assert.ok(unwrap(await driver.persistHighWater(250, epoch)) >= 250);
    const seen = unwrap(await driver.loadHighWater());
    assert.ok(seen === 250 || seen === 300);
    await driver.close();
  }),

  "P9 a damaged store is not opened": rule(["spoil"], async (fixture) => {
    const driver = await fixture.open();
    const epoch = await untilLeader(driver);
    assert.equal(unwrap(await driver.persistHighWater(400, epoch)), 400);
    await driver.close();
    await fixture.spoil();
    await assert.rejects(fixture.open());
  }),

  "P10 what an interrupted making leaves behind is ignored": rule(["leaveTemporary"], async (fixture) => {
    await fixture.leaveTemporary();
    const driver = await fixture.open();
    await untilLeader(driver);
    assert.equal(unwrap(await driver.loadHighWater()), 0);
    await driver.close();
  }),

  "P11 a second opener is refused while the first lives, and not after": rule(["openSecond"], async (fixture) => {
    const driver = await fixture.open();
    assert.equal(await fixture.openSecond(), "refused");
    await driver.close();
    assert.equal(await fixture.openSecond(), "opened");
  }),
};
