// Ten thousand workers that wait must cost nothing but memory. If each of them looked at the store now and then, an idle
// fleet would keep it busier than a working one.
import { RunId, TenantId } from "@gossip/contracts";
import { expect, test } from "vitest";
import { ClaimWaiters } from "./claim-waiters.ts";

const place = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const gone = new AbortController().signal;

/** Timers that fire when the test says so. */
class Timers {
  nowMs = 0;
  readonly #pending = new Set<{ readonly atMs: number; readonly fire: () => void }>();

  get count(): number {
    return this.#pending.size;
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { atMs: this.nowMs + ms, fire };
    this.#pending.add(timer);
    return () => void this.#pending.delete(timer);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    for (const timer of [...this.#pending].sort((a, b) => a.atMs - b.atMs))
      if (timer.atMs <= this.nowMs && this.#pending.delete(timer)) timer.fire();
  }
}

function waiting(pollMs?: number) {
  const timers = new Timers();
  const waiters = new ClaimWaiters({ timers, nowMs: () => timers.nowMs, pollMs });
  const woken: number[] = [];
  const wait = (number: number, freeInMs: number | undefined): void => {
    void waiters.wait(place, { ms: 60_000, freeInMs, gone }).then((again) => again && woken.push(number));
  };
  return { timers, waiters, woken, wait };
}

test("a thousand waiting claims have one timer for their run, and none looks before a lease ends", async () => {
  const { timers, waiters, woken, wait } = waiting();
  for (let number = 0; number < 1_000; number++) wait(number, 30_000);
  // One for the time that each waits at most, and one for the end of the first lease.
  expect([waiters.count, timers.count]).toEqual([1_000, 1_001]);
  timers.advance(29_999);
  await Promise.resolve();
  expect(woken).toEqual([]);
  timers.advance(1);
  await Promise.resolve();
  await Promise.resolve();
  expect(woken).toEqual([0]);
  // Its claim fails again: the others still wait.
  expect(waiters.count).toBe(999);
});

test("where other nodes write to the store, one claim of a run looks twice a second, however many wait", async () => {
  const { timers, waiters, woken, wait } = waiting(500);
  for (let number = 0; number < 1_000; number++) wait(number, undefined);
  expect(timers.count).toBe(1_001);
  for (let look = 0; look < 4; look++) timers.advance(500);
  await Promise.resolve();
  await Promise.resolve();
  expect(woken).toEqual([0, 1, 2, 3]);
  expect(waiters.count).toBe(996);
});

test("an event wakes one waiter, the end of the run all of them, and nothing is left behind", async () => {
  const { timers, waiters, woken, wait } = waiting(500);
  for (let number = 0; number < 10; number++) wait(number, 30_000);
  waiters.observe({ ...place, kind: "ShardReleased" } as never);
  waiters.observe({ ...place, kind: "ShardLeaseRenewed" } as never);
  waiters.observe({ ...place, run: RunId.fromRaw(2n), kind: "ShardReleased" } as never);
  expect(waiters.count).toBe(9);
  waiters.observe({ ...place, kind: "RunCancelled" } as never);
  await Promise.resolve();
  await Promise.resolve();
  expect(woken).toHaveLength(10);
  expect([waiters.count, timers.count]).toEqual([0, 0]);
});

test("what happens while a claim looks for a shard is not missed when it then waits", async () => {
  for (const happen of [
    (waiters: ClaimWaiters) => waiters.observe({ ...place, kind: "ShardReleased" } as never),
    (waiters: ClaimWaiters) => waiters.observe({ ...place, kind: "RunCancelled" } as never),
    (waiters: ClaimWaiters) => waiters.wakeEverything(),
  ]) {
    const { timers, waiters, woken, wait } = waiting(500);
    const leave = waiters.enter(place);
    happen(waiters);
    wait(0, 30_000);
    await Promise.resolve();
    await Promise.resolve();
    expect(woken).toEqual([0]);
    // Once is enough: it has looked again since.
    wait(1, 30_000);
    expect(waiters.count).toBe(1);
    leave();
    timers.advance(60_000);
    expect([waiters.count, timers.count]).toEqual([0, 0]);
  }
});
