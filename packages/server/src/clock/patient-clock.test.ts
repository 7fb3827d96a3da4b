// A node without time must refuse work at once. One that waits, or goes by its own clock, breaks leases.
import { LogicalTime, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { GossipServer } from "../server.ts";
import { patientClock } from "./patient-clock.ts";

test("a node whose clock is silent is not ready and answers 503, and goes on when the clock is back", async () => {
  let isSilent = false;
  const oracle = {
    now: () => (isSilent ? new Promise<LogicalTime>(() => {}) : Promise.resolve(LogicalTime.fromRaw(1_000n))),
  };
  const clock = patientClock(oracle, 5);
  const coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 } }));
  const create = (run: string) =>
    fetch(`${server.url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tenant: TenantId.ZERO, run, config: { leaseDuration: "1000" } }),
    });
  const ready = async () => (await fetch(`${server.url}/readyz`)).status;
  expect([(await create("0000000000000001")).status, await ready()]).toEqual([200, 200]);
  isSilent = true;
  const refused = await create("0000000000000002");
  expect([refused.status, refused.headers.get("retry-after"), await ready()]).toEqual([503, "1", 503]);
  isSilent = false;
  expect([(await create("0000000000000002")).status, await ready()]).toEqual([200, 200]);
  await server.close();
});
