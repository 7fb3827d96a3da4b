// The same cases that every store must pass in process, with the coordinator at the other end of a real HTTP connection. A
// result or an error that changes on the way shows here.
import { MemoryStore } from "@gossip/coordination";
import { CONFORMANCE_CASES, World } from "@gossip/coordination/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WireServer } from "./wire-server.fixture.ts";

/** Cases about what happens in the process of the coordinator, which a network cannot show. */
const IN_PROCESS_ONLY: Readonly<Record<string, string>> = {
  "A4: the writes of one turn are one commit, each with its own result":
    "the server knows of the release, so it refuses the lost lease without a commit; own-batch.test.ts counts requests",
  "P9: every change is reported once, after it is stored":
    "a client emits events of its own calls only; stream-events.test.ts has the events of a server",
};

let server: WireServer;
beforeAll(async () => {
  server = await WireServer.start();
});
afterAll(() => server.close());

for (const [part, cases] of Object.entries(CONFORMANCE_CASES)) {
  // Cases of the port ask the store and no coordinator.
  if (part === "the store port") continue;
  describe(part, () => {
    for (const { name, run } of cases) {
      if (Object.hasOwn(IN_PROCESS_ONLY, name)) continue;
      test(name, async () => {
        const clock: { now: World["clock"] | undefined } = { now: undefined };
        const world: World = new World(
          {
            store: new MemoryStore(),
            shardCopies: 100,
            connect: (coordinator) => server.connect(coordinator, { now: () => clock.now!.now() }),
          },
          expect,
        );
        clock.now = world.clock;
        await run(world);
      });
    }
  });
}

test("the cases that are left out exist", () => {
  const names = Object.values(CONFORMANCE_CASES).flatMap((cases) => cases.map(({ name }) => name));
  for (const name of Object.keys(IN_PROCESS_ONLY)) expect(names).toContain(name);
});
