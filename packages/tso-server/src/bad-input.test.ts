// Callers without a compiler hand in anything. Each public function answers that with a value of its error type or an
// InvariantViolation whose sentence says what is allowed; a TypeError from its inside would not help the caller.
import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test, vi } from "vitest";
import * as server from "./index.ts";
import * as testing from "./testing/index.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

const JUNK: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  Number.NaN,
  7n,
  "",
  "x",
  true,
  Symbol("s"),
  {},
  [],
  [null],
  [7],
  () => 1,
  { endpoints: 5 },
  { endpoints: [5] },
  { directory: 5 },
  { driver: 5 },
  { listen: 5 },
];

type Loose = (...args: readonly unknown[]) => unknown;

async function expectCivil(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InvariantViolation);
    expect((thrown as Error).message.length).toBeGreaterThan(10);
  }
}

const loose = (given: unknown): Loose => given as Loose;
const make =
  (constructor: unknown): Loose =>
  (...args) =>
    new (constructor as new (...given: readonly unknown[]) => unknown)(...args);
const client = (): server.TimestampClient => {
  const made = server.TimestampClient.create({ endpoints: ["127.0.0.1:1"] });
  if (!made.ok) throw new Error("a proper endpoint was refused");
  return made.value;
};

async function startAndStop(options: object): Promise<void> {
  const started = await server.OracleServer.start({ driver: new server.MemoryDriver(), ...options });
  if (started.ok) expect((await started.value.shutdown()).ok).toBe(true);
}

const SUBJECTS: readonly [string, Loose][] = [
  ["new Oracle", make(server.Oracle)],
  ["OracleServer.start", (...args) => loose(server.OracleServer.start.bind(server.OracleServer))(...args)],
  [
    "OracleServer.start, where to listen",
    (a, b) => startAndStop({ listen: a, ...(b === undefined ? {} : { http: b }) }),
  ],
  ["OracleServer.start, one address", (a) => startAndStop({ listen: [{ port: a }] })],
  ["Oracle.getTsMany", (a) => new server.Oracle({ driver: new server.MemoryDriver() }).getTsMany(a as never)],
  [
    "TimestampClient.create, its policy",
    (a) => server.TimestampClient.create({ endpoints: ["a:1"], retryPolicy: a as never, maxInFlight: a as never }),
  ],
  ["TimestampClient.create", (...args) => loose(server.TimestampClient.create.bind(server.TimestampClient))(...args)],
  ["new EtcdDriver", make(server.EtcdDriver)],
  ["FileDriver.open", (...args) => loose(server.FileDriver.open.bind(server.FileDriver))(...args)],
  ["FileDriver.initialize", (...args) => loose(server.FileDriver.initialize.bind(server.FileDriver))(...args)],
  ["new MemoryDriver", make(server.MemoryDriver)],
  ["MemoryDriver.persistHighWater", (a, b) => new server.MemoryDriver().persistHighWater(a as number, b as never)],
  ["MemoryDriver.setLeadership", (a) => new server.MemoryDriver().setLeadership(a as never)],
  ["LeadershipFeed.publish", (a) => new server.LeadershipFeed().publish(a as never)],
  ["leaderAt", loose(server.leaderAt)],
  ["PeerEndpoint.parse", (...args) => loose(server.PeerEndpoint.parse.bind(server.PeerEndpoint))(...args)],
  ["PeerEndpoint.split", (...args) => loose(server.PeerEndpoint.split.bind(server.PeerEndpoint))(...args)],
  [
    "TimestampClient.getTsBatch",
    (a) => (typeof a === "number" && a > 0 ? undefined : client().getTsBatch(a as number)),
  ],
  ["Metrics.counter", (a) => new server.Metrics().counter(a as never)],
  ["Histogram.observeMs", (a) => new server.Histogram().observeMs(a as number)],
  ["renderPrometheus", loose(server.renderPrometheus)],
  ["oracleClock", loose(server.oracleClock)],
  ["clientClock", loose(server.clientClock)],
  ["startHeartbeat", loose(server.startHeartbeat)],
  ["findOrderViolations", loose(testing.findOrderViolations)],
  ["new ManualTime", make(testing.ManualTime)],
];

describe.each(SUBJECTS)("%s", (_, call) => {
  test("refuses junk civilly", async () => {
    for (const a of JUNK) {
      await expectCivil(() => call(a));
      for (const b of [undefined, null, 7, "x", {}]) await expectCivil(() => call(a, b));
    }
  });
});
