// Splitting without need fills a run with crumbs; missing that workers wait leaves a fleet idle behind one long shard.

import type { CapacityHint } from "@gossip/coordination";
import { describe, expect, test } from "vitest";
import { ManualTime } from "../time/manual-time.fixture.ts";
import { WorkSharing, type Shareable } from "./work-sharing.ts";

class Shard implements Shareable {
  isSplitting = false;
  splits = 0;
  readonly #handoverMs: number;

  constructor(handoverMs: number) {
    this.#handoverMs = handoverMs;
  }

  expectedHandoverMs(): number {
    return this.isSplitting ? 0 : this.#handoverMs;
  }

  async split(): Promise<void> {
    this.splits++;
    this.isSplitting = true;
  }
}

const hint = (isStarved: boolean, availableCount = 0): CapacityHint => ({
  isStarved,
  availableCount,
  earliestDeadline: undefined,
});

function setUp(answer: CapacityHint | undefined = hint(false)) {
  const time = new ManualTime();
  let asked = 0;
  const bugs: unknown[] = [];
  const sharing = new WorkSharing({
    time,
    ask: async () => {
      asked++;
      return answer;
    },
    onBug: (error) => bugs.push(error),
  });
  const share = async (shards: readonly Shard[], idleWorkers = 0): Promise<readonly number[]> => {
    sharing.share(shards, { nowMs: time.nowMs(), idleWorkers });
    await time.yieldToLoop();
    return shards.map(({ splits }) => splits);
  };
  return { time, sharing, share, asked: () => asked, bugs };
}

describe("WorkSharing", () => {
  test("splits for as many as wait here, those first that hand over most", async () => {
    const { share } = setUp();
    expect(await share([new Shard(60), new Shard(0), new Shard(Infinity), new Shard(500)], 2)).toEqual([0, 0, 1, 1]);
  });

  test("counts the splits that are under way", async () => {
    const { share } = setUp();
    const shards = [new Shard(100), new Shard(200), new Shard(300)];
    await share(shards, 2);
    expect(await share(shards, 2)).toEqual([0, 1, 1]);
    shards[2]!.isSplitting = false;
    expect(await share(shards, 2)).toEqual([0, 1, 2]);
  });

  test("splits once for those who wait elsewhere, until they are heard of again", async () => {
    const { sharing, share } = setUp();
    const shards = [new Shard(100), new Shard(200)];
    sharing.observe(hint(true));
    expect(await share(shards)).toEqual([0, 1]);
    for (const shard of shards) shard.isSplitting = false;
    expect(await share(shards)).toEqual([0, 1]);
    sharing.observe(hint(true));
    expect(await share(shards)).toEqual([0, 2]);
  });

  test("does not split for them while there is something they could claim", async () => {
    const { sharing, share } = setUp();
    sharing.observe(hint(true, 1));
    expect(await share([new Shard(Infinity)])).toEqual([0]);
  });

  test("asks where nothing was heard for a second, sooner after a split, and never without a shard to share", async () => {
    const { time, share, asked } = setUp(hint(true));
    const shard = new Shard(Infinity);
    await share([shard]);
    time.block(999);
    await share([shard]);
    expect(asked()).toBe(0);
    time.block(1);
    await share([shard]);
    expect([asked(), shard.splits]).toEqual([1, 0]);
    expect(await share([shard])).toEqual([1]);
    shard.isSplitting = false;
    time.block(200);
    await share([shard]);
    expect(asked()).toBe(2);
    time.block(10_000);
    await share([]);
    expect(asked()).toBe(2);
  });
});
