// Splits that no worker waits for fill a run with tiny shards; a missed report leaves a fleet idle behind one long shard.

import { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";
import { describe, expect, test } from "vitest";
import { ManualTime } from "../time/manual-time.fixture.ts";
import { WorkSharing, type Shareable } from "./work-sharing.ts";

class Shard implements Shareable {
  isSplitting = false;
  splits = 0;
  tailOffers = 0;
  readonly #handoverMs: number;

  constructor(handoverMs: number) {
    this.#handoverMs = handoverMs;
  }

  expectedHandoverMs(): number {
    return this.isSplitting ? 0 : this.#handoverMs;
  }

  async offerTail(): Promise<void> {
    this.tailOffers++;
  }

  async split(parts: number): Promise<void> {
    this.splits += parts;
    this.isSplitting = true;
  }
}

const OWN_DEADLINE = LogicalTime.fromRaw(200n);

const hint = (isStarved: boolean, availableCount = 0, earliestDeadline?: LogicalTime): CapacityHint => ({
  isStarved,
  availableCount,
  earliestDeadline,
});

function setUp(answer: CapacityHint | undefined = hint(false)) {
  const time = new ManualTime();
  let asked = 0;
  let wanted = 0;
  const bugs: unknown[] = [];
  const sharing = new WorkSharing({
    time,
    ask: async () => {
      asked++;
      return answer;
    },
    ownDeadlines: () => [OWN_DEADLINE, LogicalTime.fromRaw(300n)],
    onWanted: () => wanted++,
    onBug: (error) => bugs.push(error),
  });
  const share = async (shards: readonly Shard[], idleWorkers = 0): Promise<readonly number[]> => {
    sharing.share(shards, { nowMs: time.nowMs(), idleWorkers });
    await time.yieldToLoop();
    return shards.map(({ splits }) => splits);
  };
  return { time, sharing, share, asked: () => asked, wanted: () => wanted, bugs };
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

  test("splits a shard into several parts if fewer shards than idle workers can be split", async () => {
    const { share } = setUp();
    expect(await share([new Shard(100), new Shard(Infinity), new Shard(0)], 5)).toEqual([2, 3, 0]);
  });

  test("splits for other processes once per report, each time into twice as many parts", async () => {
    const { sharing, share, wanted } = setUp();
    const shards = [new Shard(100), new Shard(2000)];
    const report = async (starved: boolean): Promise<readonly number[]> => {
      for (const shard of shards) shard.isSplitting = false;
      sharing.observe(hint(starved));
      return share(shards);
    };
    expect(await report(true)).toEqual([0, 1]);
    shards[1]!.isSplitting = false;
    expect(await share(shards)).toEqual([0, 1]);
    expect(await report(true)).toEqual([1, 2]);
    expect(await report(false)).toEqual([1, 2]);
    expect(await report(true)).toEqual([1, 3]);
    expect(wanted()).toBe(3);
  });

  test("splits little work for other processes only after a second report", async () => {
    const { sharing, share } = setUp();
    const shard = new Shard(60);
    sharing.observe(hint(true));
    expect(await share([shard])).toEqual([0]);
    sharing.observe(hint(true));
    expect(await share([shard])).toEqual([1]);
  });

  test("does not split for them while there is something they could claim", async () => {
    const { sharing, share } = setUp();
    sharing.observe(hint(true, 1));
    expect(await share([new Shard(Infinity)])).toEqual([0]);
  });

  test("asks soon after the start and after a split, then less and less often, and never without a shard", async () => {
    const { time, share, asked } = setUp();
    const shard = new Shard(Infinity);
    await share([]);
    time.block(99);
    await share([shard]);
    expect(asked()).toBe(0);
    const askedAfter: number[] = [];
    for (let ms = 0; ms < 5000; ms += 100) {
      const before = asked();
      await share([shard]);
      if (asked() > before) askedAfter.push(ms);
      time.block(100);
    }
    expect(askedAfter).toEqual([100, 300, 700, 1500, 2500, 3500, 4500]);
  });

  test("asks after 400 ms while workers starve, although they find something to claim", async () => {
    const { time, share, asked } = setUp(hint(true, 1));
    const shard = new Shard(Infinity);
    const askedAfter: number[] = [];
    for (let ms = 0; ms < 1000; ms += 50) {
      const before = asked();
      await share([shard]);
      if (asked() > before) askedAfter.push(ms);
      time.block(50);
    }
    expect(askedAfter).toEqual([100, 300, 700]);
  });

  describe("the last items of every shard", () => {
    const OTHER_DEADLINE = LogicalTime.fromRaw(199n);
    const offers = async (reports: readonly CapacityHint[], claim?: CapacityHint): Promise<number> => {
      const { sharing, share } = setUp();
      const shards = [new Shard(0), new Shard(0)];
      for (const report of reports) sharing.observe(report);
      if (claim !== undefined) sharing.observeClaim(claim);
      await share(shards);
      return shards.reduce((sum, { tailOffers }) => sum + tailOffers, 0);
    };

    test("are offered once nothing is left to claim", async () => {
      expect(await offers([hint(false, 1, OTHER_DEADLINE)])).toBe(0);
      expect(await offers([hint(false, 0, OTHER_DEADLINE)])).toBe(2);
      expect(await offers([], hint(false, 0, OTHER_DEADLINE))).toBe(2);
    });

    test("are offered although other holders have offered theirs since, until this process finds more to claim", async () => {
      const reports = [hint(false, 0, OTHER_DEADLINE), hint(false, 5, OTHER_DEADLINE)];
      expect(await offers(reports)).toBe(2);
      expect(await offers(reports, hint(false, 4, OTHER_DEADLINE))).toBe(0);
    });

    test("are not offered if no other process has held a shard", async () => {
      expect(await offers([hint(false, 0, OWN_DEADLINE)])).toBe(0);
      expect(await offers([hint(false, 0)])).toBe(0);
      expect(await offers([hint(false, 8, OTHER_DEADLINE), hint(false, 0, OWN_DEADLINE)])).toBe(2);
    });

    test("are not offered while workers starve: they would hide who has much to hand over", async () => {
      expect(await offers([], hint(true, 0, OTHER_DEADLINE))).toBe(0);
    });
  });

  test("asks soon after a claim that left few shards to others", async () => {
    const askedAfter = async (claim: CapacityHint): Promise<number> => {
      const { time, sharing, share, asked } = setUp(hint(claim.isStarved, 8));
      const shard = new Shard(Infinity);
      const untilAsked = async (): Promise<number> => {
        const before = asked();
        let ms = 0;
        for (; asked() === before; ms += 50) {
          time.block(50);
          await share([shard]);
        }
        return ms;
      };
      for (let times = 0; times < 5; times++) await untilAsked();
      sharing.observeClaim(claim);
      return untilAsked();
    };
    expect(await askedAfter(hint(false, 4))).toBe(100);
    expect(await askedAfter(hint(false, 5))).toBe(1000);
    expect(await askedAfter(hint(true, 4))).toBe(100);
    expect(await askedAfter(hint(true, 5))).toBe(400);
  });

  test("does not ask as long as it has nothing to hand over", async () => {
    const { time, share, asked } = setUp(hint(true));
    for (let ms = 0; ms < 5000; ms += 100) {
      await share([new Shard(0)]);
      time.block(100);
    }
    expect(asked()).toBe(0);
    await share([new Shard(0), new Shard(60)]);
    expect(asked()).toBe(1);
  });
});
