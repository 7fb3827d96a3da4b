// An operator who sees that a node is silent looks at that machine. A node that is merely asked too often, or answers
// again, must not be shown as silent.
import { expect, test } from "vitest";
import { PeerSight } from "./peer-sight.ts";

function makeSight() {
  const world = { nowMs: 0, isAlive: true, asked: [] as string[] };
  const sight = new PeerSight({
    nowMs: () => world.nowMs,
    links: {
      send: async (address, { path }) => {
        world.asked.push(`${address}${path}`);
        return world.isAlive ? { status: 200, body: Buffer.from("ok\n") } : undefined;
      },
    },
  });
  return { world, sight };
}

test("a node that stops to answer was seen when it answered last, and is seen again when it answers again", async () => {
  const { world, sight } = makeSight();
  expect(await sight.look("b:1")).toEqual({ isAnswering: true, agoMs: 0 });
  world.isAlive = false;
  world.nowMs = 5000;
  expect(await sight.look("b:1")).toEqual({ isAnswering: false, agoMs: 5000 });
  world.nowMs = 9000;
  expect(await sight.look("b:1")).toEqual({ isAnswering: false, agoMs: 9000 });
  world.isAlive = true;
  world.nowMs = 12_000;
  expect(await sight.look("b:1")).toEqual({ isAnswering: true, agoMs: 0 });
});

test("a node that never answered was never seen", async () => {
  const { world, sight } = makeSight();
  world.isAlive = false;
  expect(await sight.look("b:1")).toEqual({ isAnswering: false, agoMs: undefined });
});

test("many pages ask once a second", async () => {
  const { world, sight } = makeSight();
  await Promise.all(Array.from({ length: 20 }, () => sight.look("b:1")));
  world.nowMs = 999;
  await sight.look("b:1");
  expect(world.asked).toEqual(["b:1/healthz"]);
  world.nowMs = 1000;
  await sight.look("b:1");
  await sight.look("c:1");
  expect(world.asked).toEqual(["b:1/healthz", "b:1/healthz", "c:1/healthz"]);
});
