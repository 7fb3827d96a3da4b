import { unwrap } from "@gossip/stdx";
import { WindowGrant, type Timestamp } from "@gossip/tso";
import { MemoryDriver, MemoryHighWater } from "../driver/memory-driver.ts";
import type { LeaderState } from "../driver/leader-state.ts";
import { FaultyDriver } from "../testing/faulty-driver.ts";
import { ManualTime } from "../testing/manual-time.ts";
import { until } from "../until.fixture.ts";
import type { OracleEvent, OracleOptions } from "./oracle-options.ts";
import { Oracle } from "./oracle.ts";

export const START_MS = 1_700_000_000_000;

export interface OracleFixture {
  readonly time: ManualTime;
  readonly store: MemoryHighWater;
  readonly memory: MemoryDriver;
  readonly driver: FaultyDriver;
  readonly oracle: Oracle;
  readonly events: OracleEvent[];
}

/** An oracle on a driver and a time that the test controls. */
export function makeOracle(
  given: Partial<OracleOptions> & {
    readonly priorMs?: number;
    readonly leadership?: LeaderState;
    readonly prepare?: (driver: FaultyDriver) => void;
  } = {},
): OracleFixture {
  const { priorMs = 0, leadership, prepare, ...options } = given;
  const time = new ManualTime(START_MS);
  const store = new MemoryHighWater();
  store.highWaterMs = priorMs;
  const memory = new MemoryDriver({ store, ...(leadership === undefined ? {} : { leadership }) });
  const driver = new FaultyDriver(memory);
  prepare?.(driver);
  const events: OracleEvent[] = [];
  const oracle = new Oracle({
    driver,
    clock: time.clock,
    monotonicClock: time.monotonicClock,
    timers: time.timers,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { time, store, memory, driver, oracle, events };
}

/** An oracle that has come through its first fence. */
export async function makeServingOracle(given: Parameters<typeof makeOracle>[0] = {}): Promise<OracleFixture> {
  const fixture = makeOracle(given);
  await until(() => fixture.oracle.state.kind === "Serving");
  return fixture;
}

/** The first timestamp of a grant that must succeed. */
export async function first(oracle: Oracle, count = 1): Promise<Timestamp> {
  return WindowGrant.first(unwrap(await oracle.getTs(count)));
}
