// Leases of a whole fleet are measured by this clock. A reading below an earlier one, by any coordinator, or one that
// is made up where there is none, would end or revive a lease.
import { LogicalTime } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test, vi } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { MemoryDriver } from "../driver/memory-driver.ts";
import { makeOracle, makeServingOracle, START_MS } from "../oracle/oracle.fixture.ts";
import { OracleServer } from "../server/oracle-server.ts";
import { until } from "../until.fixture.ts";
import { clientClock, ClockUnavailable, oracleClock } from "./oracle-clock.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

describe("oracleClock", () => {
  test("answers at once, in milliseconds, and never goes back", async () => {
    const { oracle, time } = await makeServingOracle();
    const clock = oracleClock(oracle);
    expect(clock.now()).toBe(BigInt(START_MS));
    time.stepClock(250);
    expect(clock.now()).toBe(BigInt(START_MS + 250));
    time.stepClock(-10_000);
    expect(clock.now()).toBe(BigInt(START_MS + 250));
  });

  test("answers later where the window has to be extended first", async () => {
    const { oracle, time } = await makeServingOracle({ failoverAdvanceMs: 0 });
    time.stepClock(5000);
    expect(await oracleClock(oracle).now()).toBe(BigInt(START_MS + 5000));
  });

  test("is never zero, even on an empty store with a clock that is not set", async () => {
    const { oracle } = await makeServingOracle({ clock: { nowMs: () => 0 } });
    expect(oracleClock(oracle).now()).toBe(1n);
    expect(LogicalTime.ZERO).toBe(0n);
  });

  test("has no time to give while no node leads, now or later", async () => {
    const { oracle } = makeOracle({ leadership: { kind: "Unknown" } });
    await expect(oracleClock(oracle).now()).rejects.toThrow(ClockUnavailable);
    const { driver, oracle: failing, time } = await makeServingOracle({ failoverAdvanceMs: 0 });
    driver.persistFaults.push({ kind: "TransientDriver", reason: "timeout" });
    time.stepClock(1);
    await expect(oracleClock(failing).now()).rejects.toMatchObject({ refusal: { kind: "TransientDriver" } });
  });
});

describe("clientClock", () => {
  test("reads the oracle's time from elsewhere, and two of them never disagree on what came first", async () => {
    const server = unwrap(await OracleServer.start({ driver: new MemoryDriver(), listen: [{ port: 0 }] }));
    await until(() => server.oracle.isReady);
    const clients = [0, 1].map(() => unwrap(TimestampClient.create({ endpoints: server.addresses })));
    let previous = 0n;
    for (let reading = 0; reading < 50; reading++) {
      const now = await clientClock(clients[reading % 2]!).now();
      expect(now).toBeGreaterThanOrEqual(previous);
      previous = now;
    }
    for (const client of clients) client.close();
    await expect(clientClock(clients[0]!).now()).rejects.toMatchObject({
      name: "ClockUnavailable",
      refusal: { kind: "Closed" },
    });
    expect((await server.shutdown()).ok).toBe(true);
  });
});
