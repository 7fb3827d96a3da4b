// The simulator's workers, zombies and mischief, with a network in between that loses, delays, repeats and reorders requests.
// Every commit of the servers is held to the same rules as in process: a lost answer must not become a lost or a double
// write.
import type { GossipClient } from "@gossip/client";
import type { CoordinatorApi } from "@gossip/coordination";
import { simulate, type SimConnect } from "@gossip/coordination/testing";
import { ok } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import { expect, test } from "vitest";
import { FaultyProxy } from "./faulty-proxy.fixture.ts";
import { WireServer } from "./wire-server.fixture.ts";

const SEEDS = effort({ usual: 6, exploring: 300 });

/** Run one simulation. Each actor has a coordinator behind the proxy, with a clock of its own. */
async function play(seed: number, change: (client: GossipClient) => CoordinatorApi = (client) => client) {
  const server = await WireServer.start();
  const disturb = new Set<() => void>();
  // A late copy of a request can change what any actor finds.
  const proxy = await FaultyProxy.start(server.url, seed, () => disturb.forEach((each) => each()));
  const connect: SimConnect = (coordinator, line) => {
    disturb.add(line.disturb);
    const path = new URL(server.serve(coordinator, line.clock)).pathname;
    return change(server.open({ url: `${proxy.url}${path}`, replyTimeoutMs: 60_000, random: () => 0 }));
  };
  try {
    const size = { safetySteps: 120, livenessSteps: 1_500 };
    const report = await simulate({ seed: BigInt(seed), level: "SunnyDay", ...size, connect });
    return { report, faults: proxy.faults, defects: server.defects };
  } finally {
    await proxy.close();
    await server.close();
  }
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  "no rule is broken by a network that drops, delays, duplicates and reorders (seed %i)",
  { timeout: 120_000 },
  async (seed) => {
    const { report, faults, defects } = await play(seed);
    expect(report.violations).toEqual([]);
    expect(report.converged).toBe(true);
    expect(faults).toBeGreaterThan(10);
    expect(defects).toEqual([]);
  },
);

test("a client that takes a refusal for a success is noticed", { timeout: 120_000 }, async () => {
  const trusting = (client: GossipClient): CoordinatorApi =>
    new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (name !== "checkpoint") return value.bind(target) as unknown;
        return async (request: Parameters<GossipClient["checkpoint"]>[0]) => {
          const stored = await target.checkpoint(request);
          return stored.ok ? stored : ok({ kind: "Executed", value: { capacity: undefined } });
        };
      },
    });
  const { report } = await play(1, trusting);
  const message = "reported as executed, but the store never accepted it";
  expect(report.violations[0]).toMatchObject({ kind: "WrongAnswer", message });
});
