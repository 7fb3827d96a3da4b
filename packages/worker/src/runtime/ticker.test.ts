// A loop that stands still and says nothing is found out only by its lost leases.

import { expect, test } from "vitest";
import { ManualTime } from "../time/manual-time.fixture.ts";
import { startTicker } from "./ticker.ts";

test("ticks until it is ended, and tells how long the loop did not let it", async () => {
  const time = new ManualTime();
  const ticks: number[] = [];
  const blocks: number[] = [];
  const stop = startTicker({
    time,
    everyMs: 100,
    blockedMs: 500,
    onTick: (nowMs) => ticks.push(nowMs),
    onBlocked: (ms) => blocks.push(ms),
  });
  await time.runUntil(time.sleep(250));
  expect([ticks, blocks]).toEqual([[100, 200], []]);
  time.block(449);
  await time.runUntil(time.sleep(60));
  expect(blocks).toEqual([]);
  time.block(1000);
  await time.runUntil(time.sleep(60));
  expect(blocks.map(Math.round)).toEqual([960]);
  stop();
  const before = ticks.length;
  await time.runUntil(time.sleep(1000));
  expect(ticks.length).toBe(before);
});
