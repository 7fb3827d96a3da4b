// The keeper says until when a leader may answer. Counted from the wrong moment, or moved by a renewal that may not
// have arrived, two leaders would answer at once.
import type { EtcdError } from "@gossip/etcd-client";
import { err, ok, type Result } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { sleep } from "../time/system-time.ts";
import { LeaseKeeper } from "./lease-keeper.ts";

const TTL_S = 4;
const SURE_MS = 3400;

let time: ManualTime;
let renewals: number[];
let answerMs: number;
let answer: Result<{ readonly ttlS: number }, EtcdError>;
let lost: number;
beforeEach(() => {
  time = new ManualTime(0);
  renewals = [];
  answerMs = 0;
  answer = ok({ ttlS: TTL_S });
  lost = 0;
});

function keep(askedAtMs: number): LeaseKeeper {
  const keepLeaseAlive = async (): Promise<Result<{ readonly ttlS: number }, EtcdError>> => {
    renewals.push(time.monotonicClock.nowMs());
    if (answerMs > 0) await sleep(time.timers, answerMs);
    return answer;
  };
  return new LeaseKeeper({
    client: { keepLeaseAlive },
    ...partsOf(time),
    leaseId: 7n,
    ttlS: TTL_S,
    askedAtMs,
    onLost: () => (lost += 1),
  });
}

const partsOf = ({ timers, monotonicClock }: ManualTime) => ({ timers, monotonicClock });

describe("LeaseKeeper", () => {
  test("counts from when the lease was asked for, not from when it came", async () => {
    await time.advance(500);
    expect(keep(0).untilMs).toBe(SURE_MS);
  });

  test("renews four times in a lease's time, and counts from when the renewal was sent", async () => {
    answerMs = 300;
    const keeper = keep(0);
    await time.advance(1000);
    expect([renewals, keeper.untilMs]).toEqual([[1000], SURE_MS]);
    await time.advance(300);
    expect(keeper.untilMs).toBe(1000 + SURE_MS);
    await time.advance(1000);
    expect(renewals).toEqual([1000, 2300]);
  });

  test("a renewal that fails moves nothing, and is tried again sooner", async () => {
    answer = err({ kind: "EtcdUnavailable", reason: "ECONNREFUSED", mayBeDone: false });
    const keeper = keep(0);
    await time.advance(2000);
    expect([keeper.untilMs, renewals.length >= 3, lost]).toEqual([SURE_MS, true, 0]);
    answer = ok({ ttlS: TTL_S });
    await time.advance(400);
    expect(keeper.untilMs).toBeGreaterThan(2000 + SURE_MS - 400);
  });

  test("a lease that is no more is lost, once, and nothing may be answered on it", async () => {
    const keeper = keep(0);
    answer = ok({ ttlS: 0 });
    await time.advance(10_000);
    expect([keeper.untilMs, lost, renewals]).toEqual([Number.NEGATIVE_INFINITY, 1, [1000]]);
  });

  test("once stopped it renews no more, and a renewal under way does not bring it back", async () => {
    answerMs = 100;
    const keeper = keep(0);
    await time.advance(1050);
    keeper.stop();
    await time.advance(10_000);
    expect([keeper.untilMs, renewals, lost]).toEqual([Number.NEGATIVE_INFINITY, [1000], 0]);
  });
});
